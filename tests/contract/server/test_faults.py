"""The six failures, as a client meets them."""

from __future__ import annotations

from typing import Any

import pytest
from tests.contract.deadline import wait_for
from tests.contract.server.embedded import Watch, ask, embedded, plan

from perfq._core import ApiServer, Plan

pytestmark = pytest.mark.contract

PODS = "/api/v1/pods"
NODES = "/api/v1/nodes"


def failing(kind: str, at_event: int = 5) -> Plan:
    return plan(failures=[{"kind": kind, "at_event": at_event}], duration_seconds=1, steady_events_per_second=20)


def injected(server: ApiServer, kind: str) -> bool:
    faults = server.progress()["faults"]
    return kind in faults and faults[kind]["injected"] == 1


def exercised(server: ApiServer, kind: str) -> int:
    return server.progress()["faults"][kind]["exercised"]


def to_the_end(watch: Watch) -> list[dict[str, Any]]:
    events = []
    while (event := watch.event()) is not None:
        events.append(event)
    return events


def test_gone_ends_pod_watches_with_410_deletes_the_extra_pod_in_the_gap_and_compacts() -> None:
    of = failing("gone")
    with embedded(of) as server:
        listed = ask(server, PODS).json
        assert "pod-gone" in [item["metadata"]["name"] for item in listed["items"]]
        assert server.digest() == of.object_hash
        rv = listed["metadata"]["resourceVersion"]
        more = ask(server, f"{PODS}?limit=3").json["metadata"]["continue"]
        with Watch(server, f"{PODS}?watch=1&resourceVersion={rv}") as watch:
            server.start_churn()
            events = to_the_end(watch)
        assert [event["type"] for event in events] == ["MODIFIED"] * 5 + ["ERROR"]
        assert (events[-1]["object"]["code"], events[-1]["object"]["reason"]) == (410, "Expired")
        with Watch(server, f"{PODS}?watch=1&resourceVersion={rv}") as again:
            assert [event["object"]["code"] for event in to_the_end(again)] == [410]
        assert ask(server, f"{PODS}?limit=3&continue={more}").status == 410
        now = ask(server, PODS).json
        assert "pod-gone" not in [item["metadata"]["name"] for item in now["items"]]
        assert exercised(server, "gone") == 1
        assert server.progress()["totals"]["relists"] == 1
        assert wait_for(lambda: server.progress()["churn"]["state"] == "ended")
        assert server.digest() == of.final_hash


def test_throttled_refuses_the_next_three_pod_lists_or_watches_and_nothing_else() -> None:
    with embedded(failing("throttled")) as server:
        rv = ask(server, PODS).json["metadata"]["resourceVersion"]
        with Watch(server, f"{PODS}?watch=1&resourceVersion={rv}") as watch:
            server.start_churn()
            assert [event["type"] for event in to_the_end(watch)] == ["MODIFIED"] * 5
        assert wait_for(lambda: injected(server, "throttled"))
        assert ask(server, NODES).status == 200
        assert ask(server, "/api/v1/namespaces/bench-0000/pods/pod-000000").status == 200
        refused = [ask(server, f"{PODS}?watch=1"), ask(server, PODS), ask(server, f"{PODS}?limit=1")]
        assert [(answer.status, answer.headers["Retry-After"]) for answer in refused] == [(429, "1")] * 3
        assert ask(server, PODS).status == 200
        assert exercised(server, "throttled") == 3


def test_forbidden_ends_the_node_watch_and_refuses_nodes_from_then_on() -> None:
    with embedded(failing("forbidden")) as server:
        rv = ask(server, NODES).json["metadata"]["resourceVersion"]
        with Watch(server, f"{NODES}?watch=1&resourceVersion={rv}") as watch:
            server.start_churn()
            assert to_the_end(watch) == []
        for path in (NODES, f"{NODES}?watch=1"):
            answer = ask(server, path)
            assert (answer.status, answer.json["reason"]) == (403, "Forbidden")
        assert ask(server, f"{NODES}/node-00").status == 200
        assert ask(server, PODS).status == 200
        review = {"spec": {"resourceAttributes": {"verb": "list", "resource": "nodes"}}}
        path = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"
        assert ask(server, path, "POST", review).json["status"]["allowed"] is False
        assert exercised(server, "forbidden") == 2


def test_slow_holds_watch_writes_and_releases_what_gathered_once_a_second() -> None:
    with embedded(failing("slow", at_event=1)) as server:
        rv = ask(server, PODS).json["metadata"]["resourceVersion"]
        with Watch(server, f"{PODS}?watch=1&resourceVersion={rv}") as watch:
            server.start_churn()
            assert wait_for(lambda: server.progress()["churn"]["committed"] > 3)
            # Committed whatever its watchers get, and not yet written to this one.
            assert server.progress()["watches"][0]["events"] <= 1
            events = [watch.event() for _ in range(20)]
            assert all(event and event["type"] == "MODIFIED" for event in events)
        assert exercised(server, "slow") >= 1


def test_metrics_unavailable_is_a_503_for_metrics_alone() -> None:
    metrics = "/apis/metrics.k8s.io/v1beta1/pods"
    with embedded(failing("metrics_unavailable")) as server:
        assert len(ask(server, metrics).json["items"]) == 40
        server.start_churn()
        assert wait_for(lambda: injected(server, "metrics_unavailable"))
        assert ask(server, metrics).status == 503
        assert ask(server, PODS).status == 200
        assert exercised(server, "metrics_unavailable") == 1


def test_slow_logs_trickle_from_their_first_line_on() -> None:
    log = "/api/v1/namespaces/bench-0000/pods/pod-000000/log"
    with embedded(failing("slow_logs")) as server:
        assert len(ask(server, log).body.splitlines()) == 20
        server.start_churn()
        assert wait_for(lambda: injected(server, "slow_logs"))
        with Watch(server, f"{log}?follow=true") as lines:
            assert lines.response.readline().endswith(b"status=200\n")
        assert exercised(server, "slow_logs") == 1
