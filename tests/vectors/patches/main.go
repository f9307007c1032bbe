// Writes patches.ndjson: random Pods and patches, and what the libraries of the real server make of them.
// The embedded server's patches are held against it (rust/engine/src/api_server/semantics/patch).
//
//	cd tests/vectors/patches && go run . > ../patches.ndjson
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"math/rand"
	"os"
	"reflect"
	"strings"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/mergepatch"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
)

type object = map[string]any

// One line of the file. A patch that is refused has no result.
type vector struct {
	Kind     string `json:"kind"`
	Original object `json:"original"`
	Patch    any    `json:"patch"`
	Result   any    `json:"result,omitempty"`
	Code     int    `json:"code,omitempty"`
}

// Random choices: one stream, so that the same seed gives the same file.
type source struct{ *rand.Rand }

func (s source) chance(percent int) bool { return s.Intn(100) < percent }

func (s source) pick(words ...string) string { return words[s.Intn(len(words))] }

// Some of the words, each at most once, in any order.
func (s source) some(words ...string) []string {
	s.Shuffle(len(words), func(i, j int) { words[i], words[j] = words[j], words[i] })
	return words[:s.Intn(len(words)+1)]
}

func anyOf(words []string) []any {
	list := make([]any, len(words))
	for i, word := range words {
		list[i] = word
	}
	return list
}

func (s source) labels() object {
	labels := object{}
	for _, key := range s.some("a", "b", "c") {
		labels[key] = s.pick("1", "2")
	}
	return labels
}

func (s source) container(name string) object {
	container := object{"name": name}
	if s.chance(60) {
		container["image"] = s.pick("i:1", "i:2")
	}
	if s.chance(40) {
		ports := []any{}
		for _, port := range s.some("1", "2", "3") {
			ports = append(ports, object{"containerPort": int64(port[0] - '0'), "name": s.pick("x", "y")})
		}
		container["ports"] = ports
	}
	if s.chance(40) {
		env := []any{}
		for _, name := range s.some("A", "B", "C") {
			env = append(env, object{"name": name, "value": s.pick("1", "2")})
		}
		container["env"] = env
	}
	if s.chance(30) {
		container["args"] = anyOf(s.some("1", "2"))
	}
	return container
}

func (s source) volume(name string) object {
	if s.chance(50) {
		return object{"name": name, "emptyDir": object{"medium": s.pick("", "Memory")}}
	}
	return object{"name": name, "secret": object{"secretName": s.pick("s", "t")}}
}

func (s source) pod() object {
	metadata, spec := object{}, object{}
	if s.chance(70) {
		metadata["labels"] = s.labels()
	}
	if s.chance(50) {
		metadata["finalizers"] = anyOf(s.some("f/a", "f/b", "f/c"))
	}
	if s.chance(40) {
		owners := []any{}
		for _, uid := range s.some("u1", "u2") {
			owners = append(owners, object{"uid": uid, "name": s.pick("n", "m")})
		}
		metadata["ownerReferences"] = owners
	}
	containers := []any{}
	for _, name := range s.some("a", "b", "c", "d") {
		containers = append(containers, s.container(name))
	}
	if s.chance(90) {
		spec["containers"] = containers
	}
	if s.chance(50) {
		volumes := []any{}
		for _, name := range s.some("v", "w") {
			volumes = append(volumes, s.volume(name))
		}
		spec["volumes"] = volumes
	}
	if s.chance(40) {
		spec["tolerations"] = []any{object{"key": s.pick("k", "l")}}
	}
	if s.chance(30) {
		spec["imagePullSecrets"] = []any{object{"name": s.pick("p", "q")}}
	}
	if s.chance(30) {
		spec["nodeSelector"] = s.labels()
	}
	conditions := []any{}
	for _, kind := range s.some("Ready", "Initialized") {
		conditions = append(conditions, object{"type": kind, "status": s.pick("True", "False")})
	}
	return object{"metadata": metadata, "spec": spec, "status": object{"conditions": conditions}}
}

// Turns parts of a Pod into directives of a strategic merge patch.
func (s source) withDirectives(value any, key string) any {
	switch typed := value.(type) {
	case object:
		for _, name := range sorted(typed) {
			typed[name] = s.withDirectives(typed[name], name)
		}
		if s.chance(4) {
			typed["$patch"] = s.pick("replace", "delete")
		}
		for _, name := range sorted(typed) {
			list, isList := typed[name].([]any)
			if s.chance(5) && !strings.HasPrefix(name, "$") && name != "name" {
				typed[name] = nil
			} else if isList && s.chance(30) {
				s.setOrder(typed, name, list)
			}
		}
		if key == "volumes" || key == "item" {
			s.retain(typed)
		}
		return typed
	case []any:
		for i, item := range typed {
			if child, ok := item.(object); ok {
				next := "item"
				if key != "volumes" {
					next = ""
				}
				typed[i] = s.withDirectives(child, next)
				if s.chance(12) {
					child["$patch"] = s.pick("delete", "delete", "replace")
				}
			}
		}
		return typed
	}
	return value
}

var mergeKeys = map[string]string{
	"containers": "name", "volumes": "name", "env": "name", "ports": "containerPort", "ownerReferences": "uid",
	"imagePullSecrets": "name", "conditions": "type",
}

func (s source) setOrder(parent object, name string, list []any) {
	order := []any{}
	for _, item := range list {
		if child, ok := item.(object); ok {
			key, known := mergeKeys[name]
			if known && child["$patch"] == nil && child[key] != nil {
				order = append(order, object{key: child[key]})
			}
		} else {
			order = append(order, item)
		}
	}
	extra := map[string][]any{
		"containers": {object{"name": "a"}, object{"name": "d"}}, "finalizers": {"f/a", "f/c"},
		"env": {object{"name": "A"}},
	}
	for _, item := range extra[name] {
		at := s.Intn(len(order) + 1)
		if s.chance(50) && !contains(order, item) {
			order = append(order[:at], append([]any{item}, order[at:]...)...)
		}
	}
	if s.chance(10) {
		s.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
	}
	parent["$setElementOrder/"+name] = order
	if s.chance(30) {
		delete(parent, name)
	}
	if name == "finalizers" && s.chance(40) {
		parent["$deleteFromPrimitiveList/finalizers"] = anyOf(s.some("f/a", "f/b"))
	}
}

func (s source) retain(volume object) {
	if volume["name"] == nil || !s.chance(50) {
		return
	}
	keys := []any{}
	for _, key := range sorted(volume) {
		if !strings.HasPrefix(key, "$") && volume[key] != nil && !s.chance(5) {
			keys = append(keys, key)
		}
	}
	volume["$retainKeys"] = keys
}

func contains(list []any, item any) bool {
	for _, other := range list {
		if reflect.DeepEqual(other, item) {
			return true
		}
	}
	return false
}

func sorted(fields object) []string {
	text, _ := json.Marshal(fields)
	decoder := json.NewDecoder(strings.NewReader(string(text)))
	decoder.Token()
	names := []string{}
	for decoder.More() {
		name, _ := decoder.Token()
		names = append(names, name.(string))
		var skip json.RawMessage
		decoder.Decode(&skip)
	}
	return names
}

func copied(value any) any {
	text, err := json.Marshal(value)
	if err != nil {
		panic(err)
	}
	decoder := json.NewDecoder(strings.NewReader(string(text)))
	decoder.UseNumber()
	var out any
	if err := decoder.Decode(&out); err != nil {
		panic(err)
	}
	return integers(out)
}

func integers(value any) any {
	switch typed := value.(type) {
	case json.Number:
		number, _ := typed.Int64()
		return number
	case object:
		for key, child := range typed {
			typed[key] = integers(child)
		}
	case []any:
		for i, child := range typed {
			typed[i] = integers(child)
		}
	}
	return value
}

// What decoding the result into a type would drop.
func withoutDirectives(value any) any {
	switch typed := value.(type) {
	case object:
		for key, child := range typed {
			if key == "$patch" || key == "$retainKeys" || strings.HasPrefix(key, "$setElementOrder/") ||
				strings.HasPrefix(key, "$deleteFromPrimitiveList/") {
				delete(typed, key)
			} else {
				typed[key] = withoutDirectives(child)
			}
		}
	case []any:
		for i, child := range typed {
			typed[i] = withoutDirectives(child)
		}
	}
	return value
}

// The result, or the code that the real server answers with (interpretStrategicMergePatchError).
func strategic(original, patch object) (result any, code int) {
	defer func() {
		if recover() != nil {
			result, code = nil, 500
		}
	}()
	merged, err := strategicpatch.StrategicMergeMapPatch(copied(original).(object), copied(patch).(object), &corev1.Pod{})
	switch err {
	case nil:
		return withoutDirectives(copied(merged)), 0
	case mergepatch.ErrBadPatchFormatForPrimitiveList, mergepatch.ErrBadPatchFormatForRetainKeys,
		mergepatch.ErrBadPatchFormatForSetElementOrderList:
		return nil, 400
	case mergepatch.ErrNoListOfLists:
		return nil, 422
	}
	return nil, 500
}

func (s source) operation() object {
	paths := []string{
		"/metadata/labels/a", "/metadata/labels/new", "/metadata/labels", "/metadata/finalizers", "/spec/new",
		"/spec/containers/0/image", "/spec/containers/0", "/spec/nodeSelector", "/status/conditions", "/metadata",
	}
	if s.chance(25) {
		paths = []string{
			"/metadata/none/x", "/metadata/finalizers/0", "/metadata/finalizers/-", "/metadata/finalizers/-1",
			"/spec/containers/1", "/spec/containers/9/image", "/spec/containers/-", "/spec/tolerations/0/key", "",
			"spec", "/status/conditions/x", "x/spec/new", "/spec/containers/0/name/deeper",
		}
	}
	operation := object{
		"op":   s.pick("add", "add", "remove", "replace", "replace", "test", "move", "copy"),
		"path": paths[s.Intn(len(paths))],
		"from": paths[s.Intn(len(paths))],
	}
	if s.chance(85) {
		operation["value"] = []any{"1", nil, object{"name": "z"}, []any{"q"}, int64(1), object{"metadata": object{}}}[s.Intn(6)]
	}
	if s.chance(10) {
		delete(operation, "from")
	}
	return operation
}

func jsonPatch(original object, operations []any) (result any, code int) {
	defer func() {
		// The library panics where a whole document is tested for no value.
		if recover() != nil {
			result, code = nil, 422
		}
	}()
	document, _ := json.Marshal(original)
	text, _ := json.Marshal(operations)
	patch, err := jsonpatch.DecodePatch(text)
	if err != nil {
		return nil, 400
	}
	patched, err := patch.Apply(document)
	if err != nil {
		return nil, 422
	}
	if json.Unmarshal(patched, &result) != nil {
		return nil, 422
	}
	if _, ok := result.(object); !ok {
		return nil, 422
	}
	return result, 0
}

func mergePatch(original object, patch any) (any, int) {
	document, _ := json.Marshal(original)
	text, _ := json.Marshal(patch)
	patched, err := jsonpatch.MergePatch(document, text)
	if err != nil {
		return nil, 400
	}
	var result object
	if json.Unmarshal(patched, &result) != nil || result == nil {
		return nil, 422
	}
	return result, 0
}

func main() {
	s := source{rand.New(rand.NewSource(186))}
	out := bufio.NewWriter(os.Stdout)
	defer out.Flush()
	write := func(v vector) {
		text, err := json.Marshal(v)
		if err != nil {
			panic(err)
		}
		fmt.Fprintf(out, "%s\n", text)
	}
	for written := 0; written < 200; {
		original := s.pod()
		patch := s.withDirectives(s.pod(), "").(object)
		result, code := strategic(original, patch)
		// Where the order of a Go map decides, there is nothing to be held against.
		steady := true
		for range 10 {
			again, codeAgain := strategic(original, patch)
			steady = steady && reflect.DeepEqual(again, result) && code == codeAgain
		}
		if steady {
			write(vector{"strategic", original, patch, result, code})
			written++
		}
	}
	for range 150 {
		original, operations := s.pod(), []any{}
		for range s.Intn(3) + 1 {
			operations = append(operations, s.operation())
		}
		result, code := jsonPatch(original, operations)
		write(vector{"json", original, operations, result, code})
	}
	for range 80 {
		original := s.pod()
		var patch any = s.withDirectives(s.pod(), "")
		if s.chance(5) {
			patch = []any{nil, []any{}, "x", int64(1)}[s.Intn(4)]
		}
		result, code := mergePatch(original, patch)
		write(vector{"merge", original, patch, result, code})
	}
}
