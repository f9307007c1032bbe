"""The official Python client on `perfq serve`: writes, refusals as it parses them, and a watch of what it wrote."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from kubernetes import client, config, watch
from kubernetes.client.exceptions import ApiException
from tests.contract.kubectl.served import served

pytestmark = pytest.mark.contract


@pytest.fixture(scope="module")
def core() -> Iterator[Any]:
    """The core API of a server whose Pods stand still."""
    with served("smoke-1k", "--start", "never") as kubeconfig:
        yield client.CoreV1Api(config.new_client_from_config(str(kubeconfig)))


def config_map(name: str, **data: str) -> Any:
    return client.V1ConfigMap(metadata=client.V1ObjectMeta(name=name, labels={"made": "here"}), data=data)


def refusal(call: Any, *arguments: Any) -> tuple[int, str]:
    """Code and reason of the Status that a call is refused with."""
    with pytest.raises(ApiException) as raised:
        call(*arguments)
    status = json.loads(raised.value.body or "{}")
    assert status["code"] == raised.value.status
    return status["code"], status["reason"]


def test_objects_are_written_read_and_refused_as_by_a_real_server(core: Any) -> None:
    created = core.create_namespaced_config_map("bench-0000", config_map("one", a="1"))
    assert created.metadata.uid
    assert refusal(core.create_namespaced_config_map, "bench-0000", config_map("one")) == (409, "AlreadyExists")
    patched = core.patch_namespaced_config_map("one", "bench-0000", {"data": {"b": "2"}})
    assert patched.data == {"a": "1", "b": "2"}
    assert refusal(core.replace_namespaced_config_map, "one", "bench-0000", created) == (409, "Conflict")
    assert refusal(core.read_namespaced_config_map, "two", "bench-0000") == (404, "NotFound")
    assert refusal(core.create_namespaced_config_map, "bench-0000", config_map("A")) == (422, "Invalid")
    assert refusal(core.list_namespaced_pod, "bench-0000", None, None, "x") == (400, "BadRequest")
    core.delete_namespaced_config_map("one", "bench-0000")
    assert refusal(core.delete_namespaced_config_map, "one", "bench-0000") == (404, "NotFound")


def test_a_watch_shows_what_was_written_in_order(core: Any) -> None:
    since = core.list_namespaced_config_map("bench-0001").metadata.resource_version
    core.create_namespaced_config_map("bench-0001", config_map("seen"))
    core.patch_namespaced_config_map("seen", "bench-0001", {"data": {"a": "1"}})
    # Its label no longer matches: for this watch it is gone.
    core.patch_namespaced_config_map("seen", "bench-0001", {"metadata": {"labels": {"made": None}}})
    seen = []
    listing = core.list_namespaced_config_map
    stream = watch.Watch().stream(
        listing, "bench-0001", label_selector="made=here", resource_version=since, timeout_seconds=30
    )
    for event in stream:
        seen.append((event["type"], event["object"].metadata.name))
        if len(seen) == 3:
            break
    assert seen == [("ADDED", "seen"), ("MODIFIED", "seen"), ("DELETED", "seen")]


def test_pages_are_one_snapshot(core: Any) -> None:
    names, token = [], None
    while True:
        page = core.list_pod_for_all_namespaces(limit=300, _continue=token)
        names += [pod.metadata.name for pod in page.items]
        token = page.metadata._continue
        if not token:
            break
        core.patch_namespaced_pod("pod-000999", "bench-0019", {"metadata": {"labels": {"page": str(len(names))}}})
    assert len(set(names)) == len(names) == 1000
