"""The plan's events on the server: committed, recorded, extended, probed."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from tests.contract.deadline import wait_for
from tests.contract.server.embedded import Watch, ask, embedded, plan

from perfq._core import ApiServer, Recorder

pytestmark = pytest.mark.contract

PODS = "/api/v1/pods"


def ended(server: ApiServer) -> bool:
    return server.progress()["churn"]["state"] == "ended"


def records(path: Path, kind: str) -> list[dict[str, Any]]:
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    return [line for line in lines if line["k"] == kind]


def test_every_event_is_committed_no_earlier_than_it_is_due_and_in_order(tmp_path: Path) -> None:
    path = tmp_path / "samples.ndjson"
    recorder = Recorder(path)
    of = plan(duration_seconds=1, steady_events_per_second=200)
    with embedded(of, recorder=recorder) as server:
        rv = ask(server, PODS).json["metadata"]["resourceVersion"]
        with Watch(server, f"{PODS}?watch=1&resourceVersion={rv}") as watch:
            t0 = server.start_churn()
            assert server.start_churn() == t0
            for _ in range(200):
                assert watch.event() is not None
        assert wait_for(lambda: ended(server))
        assert server.digest() == of.final_hash
    assert recorder.close()["error"] is None
    commits = records(path, "commit")
    assert [one["seq"] for one in commits] == list(range(1, 201))
    assert [one["due"] - t0 for one in commits] == [k * 5_000_000 for k in range(200)]
    assert all(one["t"] >= one["due"] for one in commits)
    written = [version for one in records(path, "written") for version in one["rvs"]]
    assert written == [one["rv"] for one in commits]
    opened, closed = records(path, "watch")
    assert (opened["ev"], opened["from"], opened["selector"]) == ("open", int(rv), False)
    assert (closed["ev"], closed["events"]) == ("end", 200)
    asked = {one["verb"]: one for one in records(path, "req")}
    assert (asked["list"]["objects"], asked["list"]["page"], asked["list"]["more"]) == (40, 1, False)
    assert asked["watch"]["bytes"] is None
    assert records(path, "api")[-1]["totals"]["events_written"] == 200


def test_a_running_plan_can_be_extended_and_ends_as_the_longer_one() -> None:
    of = plan(duration_seconds=1)
    with embedded(of) as server:
        server.start_churn()
        server.extend(1)
        assert wait_for(lambda: ended(server))
        longer = of.extended(1)
        assert server.progress()["churn"]["committed"] == longer.events == 100
        assert server.digest() == longer.final_hash
        with pytest.raises(ValueError, match="has ended"):
            server.extend(1)


def test_a_probe_event_is_seen_and_restored_and_leaves_no_trace_in_the_digest() -> None:
    with embedded() as server:
        before = server.digest()
        committed = server.probe(3, "bench-0001", "pod-000005", 1_000_003)
        assert committed is not None
        pod = ask(server, "/api/v1/namespaces/bench-0001/pods/pod-000005").json
        assert pod["status"]["containerStatuses"][0]["restartCount"] == 1_000_003
        assert pod["metadata"]["resourceVersion"] == str(committed["rv"])
        assert server.digest() != before
        assert server.restore(3, "bench-0001", "pod-000005") is not None
        assert server.digest() == before
        assert server.probe(4, "bench-0000", "pod-000005", 1) is None, "that Pod is in another namespace"
        assert server.probe(5, "bench-0000", "pod-999999", 1) is None


def test_events_on_a_deleted_pod_are_skipped_and_a_label_survives_them(tmp_path: Path) -> None:
    path = tmp_path / "samples.ndjson"
    recorder = Recorder(path)
    of = plan(object_count=4, duration_seconds=1)
    with embedded(of, recorder=recorder) as server:
        pod = "/api/v1/namespaces/bench-000{0}/pods/pod-00000{0}"
        assert ask(server, pod.format(0), "DELETE").status == 200
        patch = {"metadata": {"labels": {"mine": "yes"}}}
        patched = ask(server, pod.format(1), "PATCH", patch, Content_Type="application/merge-patch+json")
        assert patched.status == 200
        server.start_churn()
        assert wait_for(lambda: ended(server))
        churn = server.progress()["churn"]
        assert (churn["committed"] + churn["skipped"], churn["skipped"] > 0) == (50, True)
        labelled = ask(server, pod.format(1)).json
        assert labelled["metadata"]["labels"]["mine"] == "yes"
        assert labelled["status"]["containerStatuses"][0]["restartCount"] > 0
    recorder.close()
    assert {one["name"] for one in records(path, "skip")} == {"pod-000000"}
    sources = Counter(one["src"] for one in records(path, "commit"))
    assert sources == {"request": 2, "plan": churn["committed"]}


@pytest.mark.parametrize(("start", "query"), [("watch", "?watch=1"), ("now", "")])
def test_the_clock_starts_with_the_first_pod_watch_or_at_once(start: str, query: str) -> None:
    with embedded(start=start) as server:
        with Watch(server, f"/api/v1/nodes{query}") as nodes:
            assert nodes.event() is not None
            assert (server.progress()["churn"]["state"] == "waiting") == (start == "watch")
        with Watch(server, f"{PODS}{query}") as pods:
            assert pods.event() is not None
            assert wait_for(lambda: server.progress()["churn"]["committed"] > 0)


def test_options_that_do_not_fit_are_named() -> None:
    for options, name in (({"ports": 1}, "ports"), ({"listen": "0.0.0.0"}, "TLS"), ({"start": "soon"}, "soon")):
        with pytest.raises(ValueError, match=name):
            ApiServer.start({"plan": plan(), "tls": False} | options)
    with pytest.raises(ValueError, match="plan"):
        ApiServer.start({})
