"""Digests of store and table are those of the plan's canonical text."""

from __future__ import annotations

import hashlib
import json
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from perfq._core import Plan
from perfq.viewer.digest import store_digest, table_digest
from perfq.viewer.kinds import PODS
from perfq.viewer.objects import NodeRecord, PodRecord, Record
from perfq.viewer.table_model import TableModel

PROFILE = {
    "schema_version": 1,
    "id": "t",
    "seed": 5,
    "object_count": 60,
    "namespace_count": 12,
    "steady_events_per_second": 40,
    "duration_seconds": 3,
    "bursts": [],
    "failures": [],
}


def records(text: bytes) -> list[Record]:
    found: list[Record] = []
    for line in text.splitlines():
        pod = json.loads(line)
        found.append(
            PodRecord(
                pod["namespace"],
                pod["name"],
                pod["phase"],
                pod["ready"],
                pod["phase"],
                pod["restarts"],
                pod["node"],
                0,
            )
        )
    return found


@pytest.mark.parametrize("kind", ["objects", "final"])
def test_both_are_the_hash_of_the_plan_whatever_the_order_in_which_pods_came(kind: str) -> None:
    plan = Plan(json.dumps(PROFILE))
    pods = records(plan.emit(kind))
    random.Random(1).shuffle(pods)
    expected = plan.object_hash if kind == "objects" else plan.final_hash
    assert store_digest({pod.key: pod for pod in pods}) == expected
    model = TableModel(PODS)
    model.apply({pod.key: pod for pod in pods})
    assert table_digest(model.rows) == expected


def test_one_pod_more_one_less_or_one_restart_off_is_another_digest() -> None:
    plan = Plan(json.dumps(PROFILE))
    pods = {pod.key: pod for pod in records(plan.emit("objects"))}
    extra = PodRecord("bench-0000", "pod-gone", "Running", "1/1", "Running", 0, "node-00", 0)
    first = next(iter(pods.values()))
    assert isinstance(first, PodRecord)
    changed = PodRecord(*first.key, first.phase, first.ready, first.status, 1, first.node, 0)
    seen = {
        store_digest(pods),
        store_digest({**pods, extra.key: extra}),
        store_digest(dict(list(pods.items())[1:])),
        store_digest({**pods, changed.key: changed}),
    }
    assert len(seen) == 4


def test_nodes_are_no_pods_and_nothing_has_the_digest_of_nothing() -> None:
    node = NodeRecord("", "n", "Ready", "", "", 0)
    assert store_digest({node.key: node}) == hashlib.sha256(b"").hexdigest() == table_digest({})


@given(st.text(max_size=20))
def test_any_text_is_written_as_json_in_ascii(name: str) -> None:
    pod = PodRecord("a", name, "Running", "1/1", "Running", 3, "n", 0)
    line = json.dumps(
        {"namespace": "a", "name": name, "phase": "Running", "ready": "1/1", "restarts": 3, "node": "n"},
        separators=(",", ":"),
    )
    assert store_digest({pod.key: pod}) == hashlib.sha256(line.encode() + b"\n").hexdigest()
