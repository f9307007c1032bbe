// A client-go informer of Pods, as controllers use it: it fills its store from the server until the
// restart counts of all Pods sum up to -until-restarts, and prints what the store then holds as
// canonical lines. What it asked the server for goes to standard error, one request a line.
//
// KUBE_FEATURE_WatchListClient=true|false chooses between a streamed first list and LIST + WATCH.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"net/http"
	"os"
	"sort"
	"time"

	corev1 "k8s.io/api/core/v1"
	podinformer "k8s.io/client-go/informers/core/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/clientcmd"
)

// The canonical line of an object: these keys, in this order.
type line struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	Phase     string `json:"phase"`
	Ready     string `json:"ready"`
	Restarts  int32  `json:"restarts"`
	Node      string `json:"node"`
}

func lineOf(pod *corev1.Pod) line {
	ready, restarts := 0, int32(0)
	for _, container := range pod.Status.ContainerStatuses {
		restarts += container.RestartCount
		if container.Ready {
			ready++
		}
	}
	return line{
		Namespace: pod.Namespace, Name: pod.Name, Phase: string(pod.Status.Phase),
		Ready:    fmt.Sprintf("%d/%d", ready, len(pod.Status.ContainerStatuses)),
		Restarts: restarts, Node: pod.Spec.NodeName,
	}
}

// Says each request on standard error before it is sent.
type told struct{ next http.RoundTripper }

func (t told) RoundTrip(request *http.Request) (*http.Response, error) {
	fmt.Fprintf(os.Stderr, "request %s %s accept=%s\n", request.Method, request.URL.RequestURI(), request.Header.Get("Accept"))
	response, err := t.next.RoundTrip(request)
	if err == nil {
		fmt.Fprintf(os.Stderr, "response %d %s %s\n", response.StatusCode, response.Proto, response.Header.Get("Content-Type"))
	}
	return response, err
}

func main() {
	kubeconfig := flag.String("kubeconfig", "", "where the server is")
	until := flag.Int64("until-restarts", 0, "the sum of restart counts at which to end")
	timeout := flag.Duration("timeout", time.Minute, "how long to wait for it")
	flag.Parse()
	if err := run(*kubeconfig, *until, *timeout); err != nil {
		fmt.Fprintln(os.Stderr, "informer:", err)
		os.Exit(1)
	}
}

func run(kubeconfig string, until int64, timeout time.Duration) error {
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return err
	}
	config.Wrap(func(next http.RoundTripper) http.RoundTripper { return told{next} })
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	informer := podinformer.NewPodInformer(client, "", 0, cache.Indexers{})
	stop := make(chan struct{})
	defer close(stop)
	go informer.Run(stop)

	deadline := time.Now().Add(timeout)
	for {
		lines, sum := held(informer.GetStore())
		if informer.HasSynced() && sum == until {
			return emit(lines)
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("after %s: synced %t, %d Pods, %d restarts of %d", timeout, informer.HasSynced(), len(lines), sum, until)
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// All that the store holds, sorted by namespace and name, and the sum of its restart counts.
func held(store cache.Store) ([]line, int64) {
	var lines []line
	var sum int64
	for _, object := range store.List() {
		if pod, is := object.(*corev1.Pod); is {
			lines = append(lines, lineOf(pod))
			sum += int64(lines[len(lines)-1].Restarts)
		}
	}
	sort.Slice(lines, func(i, j int) bool {
		if lines[i].Namespace != lines[j].Namespace {
			return lines[i].Namespace < lines[j].Namespace
		}
		return lines[i].Name < lines[j].Name
	})
	return lines, sum
}

func emit(lines []line) error {
	out := json.NewEncoder(os.Stdout)
	for _, line := range lines {
		if err := out.Encode(line); err != nil {
			return err
		}
	}
	return nil
}
