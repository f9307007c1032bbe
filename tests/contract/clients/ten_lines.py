# mypy: ignore-errors
from kubernetes import client, config, watch

config.load_kube_config()
pods = client.CoreV1Api().list_pod_for_all_namespaces
listed = pods()
held = {(pod.metadata.namespace, pod.metadata.name): pod for pod in listed.items}
for event in watch.Watch().stream(pods, resource_version=listed.metadata.resource_version):
    pod = event["object"]
    held[pod.metadata.namespace, pod.metadata.name] = pod
