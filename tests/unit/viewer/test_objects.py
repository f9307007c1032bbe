"""What the wire says becomes what kubectl would print."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest

from perfq.viewer.kinds import NODES, PODS, decode_event, decode_version
from perfq.viewer.objects import NodeRecord, PodRecord, Record, epoch_seconds

Json = dict[str, Any]


def raw(value: Json) -> msgspec.Raw:
    return msgspec.Raw(json.dumps(value).encode())


def pod(spec: Json | None = None, status: Json | None = None, **meta: Any) -> Json:
    return {
        "kind": "Pod",
        "metadata": {"name": "web", "namespace": "shop", "resourceVersion": "7", **meta},
        "spec": {"nodeName": "node-1", "containers": [{"name": "app"}], **(spec or {})},
        "status": {"phase": "Running", **(status or {})},
    }


def decoded(value: Json) -> PodRecord:
    record, version = PODS.decode_object(raw(value))
    assert version == "7"
    assert isinstance(record, PodRecord)
    return record


def container(name: str = "app", *, ready: bool = True, restarts: int = 0, **state: Any) -> Json:
    return {"name": name, "ready": ready, "restartCount": restarts, "state": state or {"running": {"startedAt": "x"}}}


def test_a_running_pod() -> None:
    record = decoded(
        pod(status={"containerStatuses": [container(restarts=4)]}, creationTimestamp="2026-01-01T00:00:10Z")
    )
    assert record == PodRecord("shop", "web", "Running", "1/1", "Running", 4, "node-1", 1767225610)
    assert record.key == ("shop", "web")


def test_a_pod_with_nothing_but_a_name_is_shown_too() -> None:
    record, _ = PODS.decode_object(raw({"metadata": {"name": "bare", "namespace": "a"}}))
    assert record == PodRecord("a", "bare", "", "0/0", "", 0, "", 0)


ENDED: Json = {"terminated": {"exitCode": 0, "reason": "Completed"}}
#: (spec, status, metadata) → (READY, STATUS, RESTARTS)
PRINTED: list[tuple[str, Json, Json, Json, tuple[str, str, int]]] = [
    (
        "a waiting container gives its reason",
        {},
        {"containerStatuses": [container(ready=False, waiting={"reason": "CrashLoopBackOff"}, restarts=9)]},
        {},
        ("0/1", "CrashLoopBackOff", 9),
    ),
    (
        "waiting without a reason leaves the phase",
        {},
        {"phase": "Pending", "containerStatuses": [container(ready=False, waiting={})]},
        {},
        ("0/1", "Pending", 0),
    ),
    ("the status reason wins over the phase", {}, {"phase": "Failed", "reason": "Evicted"}, {}, ("0/1", "Evicted", 0)),
    (
        "an exit code without a reason",
        {},
        {"containerStatuses": [container(ready=False, terminated={"exitCode": 3})]},
        {},
        ("0/1", "ExitCode:3", 0),
    ),
    (
        "a signal without a reason",
        {},
        {"containerStatuses": [container(ready=False, terminated={"exitCode": 137, "signal": 9})]},
        {},
        ("0/1", "Signal:9", 0),
    ),
    (
        "completed beside a running one, ready",
        {"containers": [{"name": "a"}, {"name": "b"}]},
        {
            "containerStatuses": [container("a", ready=False, **ENDED), container("b")],
            "conditions": [{"type": "Ready", "status": "True"}],
        },
        {},
        ("1/2", "Running", 0),
    ),
    (
        "completed beside a running one, not ready",
        {"containers": [{"name": "a"}, {"name": "b"}]},
        {"containerStatuses": [container("a", ready=False, **ENDED), container("b")]},
        {},
        ("1/2", "NotReady", 0),
    ),
    (
        "the second of two init containers runs",
        {"initContainers": [{"name": "i1"}, {"name": "i2"}]},
        {"phase": "Pending", "initContainerStatuses": [container("i1", **ENDED), container("i2", restarts=1)]},
        {},
        ("0/1", "Init:1/2", 1),
    ),
    (
        "an init container that cannot pull",
        {"initContainers": [{"name": "i1"}]},
        {"phase": "Pending", "initContainerStatuses": [container("i1", waiting={"reason": "ErrImagePull"})]},
        {},
        ("0/1", "Init:ErrImagePull", 0),
    ),
    (
        "a sidecar counts as a container",
        {"initContainers": [{"name": "side", "restartPolicy": "Always"}]},
        {
            "initContainerStatuses": [{**container("side", restarts=2), "started": True}],
            "containerStatuses": [container(restarts=1)],
        },
        {},
        ("2/2", "Running", 3),
    ),
    ("being deleted", {}, {}, {"deletionTimestamp": "2026-01-01T00:00:00Z"}, ("0/1", "Terminating", 0)),
    (
        "deleted while its node is lost",
        {},
        {"reason": "NodeLost"},
        {"deletionTimestamp": "2026-01-01T00:00:00Z"},
        ("0/1", "Unknown", 0),
    ),
    (
        "deleted after its end",
        {},
        {"phase": "Succeeded"},
        {"deletionTimestamp": "2026-01-01T00:00:00Z"},
        ("0/1", "Succeeded", 0),
    ),
]


@pytest.mark.parametrize(
    ("spec", "status", "meta", "printed"), [one[1:] for one in PRINTED], ids=[p[0] for p in PRINTED]
)
def test_ready_status_and_restarts_are_those_of_kubectl(
    spec: Json, status: Json, meta: Json, printed: tuple[str, str, int]
) -> None:
    record = decoded(pod(spec, status, **meta))
    assert (record.ready, record.status, record.restarts) == printed


def test_a_node() -> None:
    record, _ = NODES.decode_object(
        raw(
            {
                "metadata": {
                    "name": "n1",
                    "labels": {
                        "node-role.kubernetes.io/worker": "",
                        "node-role.kubernetes.io/control-plane": "",
                        "x": "y",
                    },
                },
                "spec": {"unschedulable": True},
                "status": {
                    "conditions": [{"type": "Ready", "status": "False"}],
                    "nodeInfo": {"kubeletVersion": "v1.36.3"},
                },
            }
        )
    )
    assert record == NodeRecord("", "n1", "NotReady,SchedulingDisabled", "control-plane,worker", "v1.36.3", 0)


def test_a_page_gives_its_records_and_where_it_goes_on() -> None:
    body = {"kind": "PodList", "metadata": {"resourceVersion": "9", "continue": "abc"}, "items": [pod(), pod(name="b")]}
    records, page = PODS.decode_page(json.dumps(body).encode())
    assert [record.name for record in records] == ["web", "b"]
    assert (page.resourceVersion, page.continue_) == ("9", "abc")
    records, page = PODS.decode_page(b'{"metadata":{"resourceVersion":"9"},"items":null}')
    assert (records, page.continue_) == ([], "")


def test_what_is_not_a_list_or_event_is_an_error_and_no_crash() -> None:
    for body in (b"", b"<html>", b"[]", b'{"metadata":3}', b'{"items":[]}', b'{"metadata":{},"items":[{"spec":{}}]}'):
        with pytest.raises(msgspec.MsgspecError):
            PODS.decode_page(body)
    for line in (b"", b"{", b'{"type":"ADDED"}', b'{"object":{}}'):
        with pytest.raises(msgspec.MsgspecError):
            decode_event(line)


def test_a_bookmark_gives_a_version() -> None:
    event = decode_event(b'{"type":"BOOKMARK","object":{"kind":"Pod","metadata":{"resourceVersion":"12"}}}')
    assert (event.type, decode_version(event.object)) == ("BOOKMARK", "12")


def test_repeated_text_is_kept_once() -> None:
    one, two = decoded(pod()), decoded(pod(name="other"))
    for field in ("namespace", "phase", "ready", "status", "node"):
        assert getattr(one, field) is getattr(two, field)


@pytest.mark.parametrize("text", [None, "", "yesterday", "2026-13-45T99:99", "2026-01-01"])
def test_a_time_that_is_none_is_unknown(text: str | None) -> None:
    assert epoch_seconds(text) == 0


def test_cells_are_the_columns_of_the_table() -> None:
    record: Record = decoded(pod(status={"containerStatuses": [container(restarts=4)]}))
    assert PODS.cells(record, {}) == ("shop", "web", "1/1", "Running", 4, "node-1", 0)
    assert [column.title for column in PODS.columns] == [
        "NAMESPACE",
        "NAME",
        "READY",
        "STATUS",
        "RESTARTS",
        "NODE",
        "AGE",
    ]
