# mypy: ignore-errors
"""The official Python client: lists and watches Pods until their restart counts sum up to argv[1], then
prints what it holds as canonical lines."""

from __future__ import annotations

import json
import sys
from typing import Any

from kubernetes import client, config, watch


def line(pod: Any) -> dict[str, object]:
    containers = pod.status.container_statuses or []
    return {
        "namespace": pod.metadata.namespace,
        "name": pod.metadata.name,
        "phase": pod.status.phase,
        "ready": f"{sum(one.ready for one in containers)}/{len(containers)}",
        "restarts": sum(one.restart_count for one in containers),
        "node": pod.spec.node_name,
    }


def main(until: int) -> None:
    config.load_kube_config()
    pods = client.CoreV1Api().list_pod_for_all_namespaces
    listed = pods()
    held = {(pod.metadata.namespace, pod.metadata.name): line(pod) for pod in listed.items}
    since = listed.metadata.resource_version
    for event in watch.Watch().stream(pods, resource_version=since, timeout_seconds=60):
        pod = event["object"]
        held[pod.metadata.namespace, pod.metadata.name] = line(pod)
        if sum(int(str(one["restarts"])) for one in held.values()) == until:
            break
    for key in sorted(held):
        print(json.dumps(held[key], separators=(",", ":")))  # noqa: T201 - a program of its own


main(int(sys.argv[1]))
