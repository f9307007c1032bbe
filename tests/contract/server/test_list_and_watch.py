"""LIST and WATCH over real HTTP: what clients rely on."""

from __future__ import annotations

import gzip

import pytest
from tests.contract.deadline import wait_for
from tests.contract.server.embedded import Watch, ask, embedded, plan

pytestmark = pytest.mark.contract

PODS = "/api/v1/pods"
TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io"


def names(items: list[dict]) -> list[str]:  # type: ignore[type-arg]
    return [item["metadata"]["name"] for item in items]


def test_pages_are_one_consistent_list_whatever_happens_between_them() -> None:
    with embedded(start="manual") as server:
        whole = names(ask(server, PODS).json["items"])
        first = ask(server, f"{PODS}?limit=15").json
        ask(server, f"/api/v1/namespaces/bench-0003/pods/{whole[-1]}", "DELETE")
        seen, page = names(first["items"]), first
        while more := page["metadata"].get("continue"):
            page = ask(server, f"{PODS}?limit=15&continue={more}").json
            seen += names(page["items"])
            assert page["metadata"]["resourceVersion"] == first["metadata"]["resourceVersion"]
        assert seen == whole
        assert first["metadata"]["remainingItemCount"] == 25
        assert len(ask(server, PODS).json["items"]) == 39


def test_a_limit_is_ignored_at_any_version_and_pins_a_given_one_as_kube_apiserver_does() -> None:
    with embedded() as server:
        before = ask(server, PODS).json["metadata"]["resourceVersion"]
        ask(server, "/api/v1/namespaces/bench-0000/pods/pod-000000", "DELETE")
        any_version = ask(server, f"{PODS}?limit=15&resourceVersion=0").json
        assert len(any_version["items"]) == 39
        assert not any_version["metadata"].get("continue")
        pinned = ask(server, f"{PODS}?limit=15&resourceVersion={before}").json
        assert pinned["metadata"]["resourceVersion"] == before
        assert pinned["items"][0]["metadata"]["name"] == "pod-000000"
        not_older = ask(server, f"{PODS}?resourceVersion={before}").json
        assert len(not_older["items"]) == 39


def test_a_continue_token_of_another_list_or_none_at_all_is_refused_with_a_status() -> None:
    with embedded() as server:
        more = ask(server, f"{PODS}?limit=5").json["metadata"]["continue"]
        for path in (
            f"/api/v1/nodes?limit=5&continue={more}",
            f"{PODS}?limit=5&continue={more}&labelSelector=app%3Dbench",
            f"{PODS}?limit=5&continue=rubbish",
            f"{PODS}?limit=5&continue={more}&resourceVersion=7",
        ):
            answer = ask(server, path)
            assert (answer.status, answer.json["reason"]) == (400, "BadRequest"), path


def test_a_version_of_the_past_is_listed_exactly_and_one_of_the_future_is_a_504() -> None:
    with embedded() as server:
        before = ask(server, PODS).json["metadata"]["resourceVersion"]
        ask(server, "/api/v1/namespaces/bench-0000/pods/pod-000000", "DELETE")
        exact = ask(server, f"{PODS}?resourceVersion={before}&resourceVersionMatch=Exact").json
        assert len(exact["items"]) == 40
        assert exact["metadata"]["resourceVersion"] == before
        for query in (f"resourceVersion={int(before) + 9}", f"watch=1&resourceVersion={int(before) + 9}"):
            ahead = ask(server, f"{PODS}?{query}")
            assert (ahead.status, ahead.json["reason"]) == (504, "Timeout")
            assert ahead.json["details"]["causes"][0]["reason"] == "ResourceVersionTooLarge"


def test_a_restart_on_the_same_port_does_not_go_back_in_versions() -> None:
    with embedded() as server:
        port = server.port
        before = int(ask(server, PODS).json["metadata"]["resourceVersion"])
    with embedded(port=port) as server:
        assert int(ask(server, PODS).json["metadata"]["resourceVersion"]) > before


def test_initial_events_end_with_their_bookmark_and_changes_follow() -> None:
    query = "watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true"
    with embedded() as server, Watch(server, f"/api/v1/namespaces/bench-0001/pods?{query}") as watch:
        added = [watch.event() for _ in range(10)]
        assert {event["type"] for event in added if event} == {"ADDED"}
        end = watch.event()
        assert end is not None
        assert end["type"] == "BOOKMARK"
        assert end["object"]["metadata"]["annotations"] == {"k8s.io/initial-events-end": "true"}
        assert server.probe(0, "bench-0001", "pod-000001", 1_000_001) is not None
        changed = watch.event()
        assert changed is not None
        assert changed["object"]["status"]["containerStatuses"][0]["restartCount"] == 1_000_001


def test_an_object_that_stops_matching_is_deleted_for_that_watch_and_added_when_it_matches_again() -> None:
    with embedded() as server:
        rv = ask(server, PODS).json["metadata"]["resourceVersion"]
        query = f"watch=1&resourceVersion={rv}&labelSelector=color%3Dred"
        pod = "/api/v1/namespaces/bench-0000/pods/pod-000000"
        merge = "application/merge-patch+json"
        with Watch(server, f"{PODS}?{query}") as watch:
            for color in ("red", "blue", "red"):
                patch = {"metadata": {"labels": {"color": color}}}
                assert ask(server, pod, "PATCH", patch, Content_Type=merge).status == 200
            events = [watch.event() for _ in range(3)]
            assert [event["type"] for event in events if event] == ["ADDED", "DELETED", "ADDED"]
            gone = events[1]
            assert gone is not None
            # Its last matching state, with the version of the change.
            assert gone["object"]["metadata"]["labels"]["color"] == "red"
            assert int(gone["object"]["metadata"]["resourceVersion"]) > int(rv) + 1


def test_a_watch_ends_at_its_timeout_with_a_last_bookmark() -> None:
    with embedded() as server:
        rv = ask(server, PODS).json["metadata"]["resourceVersion"]
        query = f"watch=1&timeoutSeconds=1&allowWatchBookmarks=true&resourceVersion={rv}"
        with Watch(server, f"{PODS}?{query}") as watch:
            last = watch.event()
            assert last is not None
            assert last["type"] == "BOOKMARK"
            assert watch.event() is None
        assert wait_for(lambda: server.progress()["totals"]["watches"]["ended"] == {"timeout": 1})


def test_every_planned_event_reaches_a_watcher_once_and_in_order_and_is_counted() -> None:
    with embedded(plan(duration_seconds=1, steady_events_per_second=300)) as server:
        rv = ask(server, PODS).json["metadata"]["resourceVersion"]
        with Watch(server, f"{PODS}?watch=1&resourceVersion={rv}") as watch:
            server.start_churn()
            versions = []
            for _ in range(300):
                event = watch.event()
                assert event is not None
                versions.append(int(event["object"]["metadata"]["resourceVersion"]))
            assert versions == list(range(int(rv) + 1, int(rv) + 301))
            assert wait_for(lambda: server.progress()["watches"][0]["events"] == 300)


def test_a_large_list_is_compressed_for_those_who_ask_and_reads_back_as_the_same() -> None:
    with embedded(plan(object_count=400)) as server:
        plain = ask(server, PODS)
        packed = ask(server, PODS, Accept_Encoding="gzip")
        assert packed.headers["Content-Encoding"] == "gzip"
        assert gzip.decompress(packed.body) == plain.body
        small = ask(server, "/api/v1/nodes", Accept_Encoding="gzip")
        assert small.headers["Content-Encoding"] is None
        listed = [one for one in server.progress()["totals"]["operations"] if one["path"] == PODS]
        assert listed[0]["bytes"] == 2 * len(plain.body)
        assert listed[0]["bytes_sent"] == len(plain.body) + len(packed.body)


def test_tables_have_a_row_for_each_object_and_protobuf_alone_is_a_406() -> None:
    with embedded() as server:
        table = ask(server, f"{PODS}?limit=7", Accept=TABLE).json
        assert (table["kind"], len(table["rows"])) == ("Table", 7)
        assert [column["name"] for column in table["columnDefinitions"]][:4] == ["Name", "Ready", "Status", "Restarts"]
        with Watch(server, f"{PODS}?watch=1&timeoutSeconds=1") as watch:
            assert watch.event() is not None
        refused = ask(server, PODS, Accept="application/vnd.kubernetes.protobuf")
        assert (refused.status, refused.json["reason"]) == (406, "NotAcceptable")
