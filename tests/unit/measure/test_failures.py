"""The six predicates: what each failure profile asks of a client."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.unit.synthetic import MS, SECOND, T0, WATCHER, Line, SyntheticRun, ideal_run, profile, replay_of

from perfq.measure.failures.clause import Clause, together
from perfq.measure.result.replay import FailureInjected

#: The failure is injected at T0 + 5 s, in a churn of 20 s.
INJECTED = T0 + 5 * SECOND


def failing(kind: str, *lines: Line) -> SyntheticRun:
    """An ideal run of 20 s in which a failure was injected, with what the test adds."""
    workload = profile(duration_seconds=20, bursts=[], object_count=40, failures=[{"kind": kind, "at_event": 100}])
    run = ideal_run(workload, pairs=50)
    return run.adding({"k": "fault", "t": INJECTED, "kind": kind, "ev": "injected", "detail": ""}, *lines)


def exercised(kind: str, at: int) -> Line:
    return {"k": "fault", "t": at, "kind": kind, "ev": "exercised", "detail": ""}


def request(verb: str, kind: str, at: int, **changes: object) -> Line:
    base: Line = {"k": "req", "t": at, "done": at + MS, "verb": verb, "group": "", "kind": kind, "scope": ""}
    rest = {"name": "", "sub": "", "class": "api", "status": 200, "bytes": 10, "objects": 1, "page": 1, "more": False}
    return base | rest | {"retry_after": None, "ua": "v", "conn": 1} | changes


def outcome(run: SyntheticRun, tmp_path: Path) -> FailureInjected:
    recorded = replay_of(run.write(tmp_path / "run"))
    return next(iter(recorded.replay.failures_injected.values()))


def watch_end(why: str) -> Line:
    return {"k": "watch", "t": INJECTED, "w": WATCHER, "ev": "end", "why": why, "events": 1, "bytes": 1}


def watch_open(at: int, w: int, kind: str = "pods", scope: str = "") -> Line:
    opened = {"ev": "open", "group": "", "kind": kind, "scope": scope, "from": 1, "ua": "v", "conn": 1}
    return {"k": "watch", "t": at, "w": w, "selector": False, **opened}


GONE = (
    exercised("gone", INJECTED),
    watch_end("expired"),
    request("list", "pods", INJECTED + 100 * MS),
    watch_open(INJECTED + 200 * MS, 7),
)


def test_gone_is_shown_by_a_new_list_and_the_expected_end(tmp_path: Path) -> None:
    run = failing("gone", *GONE).without(lambda line: line["k"] == "watch" and line.get("why") == "client")
    recorded = replay_of(run.write(tmp_path / "run"))
    assert recorded.replay.failures_injected["gone"] == FailureInjected(injected=1, exercised=1, shown=True, why=None)
    assert (recorded.api.relists, recorded.api.reconnects) == (1, 1)
    assert (recorded.api.lists_per_scope_max, recorded.api.watches_per_scope_max) == (1, 1)


def test_gone_is_not_shown_by_a_client_that_never_lists_again(tmp_path: Path) -> None:
    run = failing("gone", exercised("gone", INJECTED), watch_end("expired"))
    found = outcome(run.without(lambda line: line["k"] == "watch" and line.get("why") == "client"), tmp_path)
    assert found.shown is False
    assert found.why is not None
    assert "lists again" in found.why


def test_gone_is_not_shown_where_the_deleted_pod_is_still_in_the_store(tmp_path: Path) -> None:
    run = failing("gone", *GONE).mapped(
        lambda line: (
            line | {"m": line["m"] | {"store": "0" * 64}}
            if line["k"] == "probe" and line["m"]["k"] == "digest"
            else line
        )
    )
    assert outcome(run, tmp_path).shown is False


def refused(verb: str, at: int) -> list[Line]:
    return [exercised("throttled", at), request(verb, "pods", at, status=429, retry_after=1)]


def throttled_run(*extra: Line, gap: int = 1100 * MS) -> SyntheticRun:
    lines = [line for i in range(3) for line in refused("watch", INJECTED + i * gap)]
    return failing("throttled", watch_end("fault"), *lines, watch_open(INJECTED + 3 * gap, 7), *extra)


def test_throttled_is_shown_by_waiting_as_long_as_it_was_told(tmp_path: Path) -> None:
    assert outcome(throttled_run(), tmp_path) == FailureInjected(injected=1, exercised=3, shown=True, why=None)


def test_throttled_is_not_shown_by_a_request_before_its_retry_after(tmp_path: Path) -> None:
    found = outcome(throttled_run(gap=900 * MS), tmp_path)
    assert found.shown is False
    assert found.why is not None
    assert "2 came early" in found.why


def test_throttled_is_not_shown_by_a_storm(tmp_path: Path) -> None:
    storm = [request("list", "pods", INJECTED + 5 * SECOND + i * MS) for i in range(4)]
    found = outcome(throttled_run(*storm), tmp_path)
    assert found.shown is False
    assert found.why is not None
    assert "7 were seen" in found.why


def test_the_pages_of_one_list_are_one_request(tmp_path: Path) -> None:
    pages = [request("list", "pods", INJECTED + 5 * SECOND + i * MS, page=i + 1, more=i < 3) for i in range(4)]
    assert outcome(throttled_run(*pages), tmp_path).shown is True


def forbidden_run(*extra: Line, places: int = 1) -> SyntheticRun:
    first = request("watch", "nodes", INJECTED + 100 * MS, status=403)
    said = {"k": "screen", "t": INJECTED + 300 * MS, "ev": "forbidden", "rows": places}
    return failing("forbidden", exercised("forbidden", INJECTED + 100 * MS), first, said, *extra)


def test_forbidden_is_shown_by_asking_rarely_and_saying_it_once(tmp_path: Path) -> None:
    again = request("list", "nodes", INJECTED + 10 * SECOND, status=403)
    assert outcome(forbidden_run(again), tmp_path).shown is True


@pytest.mark.parametrize(
    ("extra", "places", "clause"),
    [
        ([request("list", "nodes", INJECTED + i * SECOND, status=403) for i in (5, 10)], 1, "2 followed"),
        ([request("list", "pods", INJECTED + SECOND, scope="bench-0001")], 1, "fan-out"),
        ([], 2, "says it once"),
    ],
)
def test_forbidden_is_not_shown_by_insisting(extra: list[Line], places: int, clause: str, tmp_path: Path) -> None:
    found = outcome(forbidden_run(*extra, places=places), tmp_path)
    assert found.shown is False
    assert found.why is not None
    assert clause in found.why


def test_forbidden_cannot_be_told_where_the_screen_was_not_watched(tmp_path: Path) -> None:
    run = forbidden_run().without(lambda line: line["k"] == "screen" and line["ev"] == "forbidden")
    assert outcome(run, tmp_path).shown is None


def slow_input(line: Line) -> Line:
    if line["k"] == "input" and INJECTED <= line["t"] < INJECTED + 10 * SECOND:
        return line | {"seen": line["t"] + 1100 * MS}
    return line


def test_slow_is_shown_by_keys_that_stay_fast_and_a_backlog_that_drains(tmp_path: Path) -> None:
    assert outcome(failing("slow", exercised("slow", INJECTED)), tmp_path).shown is True


def test_slow_is_not_shown_by_keys_that_wait_for_the_server(tmp_path: Path) -> None:
    found = outcome(failing("slow", exercised("slow", INJECTED)).mapped(slow_input), tmp_path)
    assert found.shown is False
    assert found.why is not None
    assert "input p95" in found.why


def test_slow_is_not_shown_by_a_backlog_that_never_drains(tmp_path: Path) -> None:
    run = failing("slow", exercised("slow", INJECTED)).without(
        lambda line: line["k"] == "probe" and line["m"]["k"] in ("rendered", "coalesced") and line["t"] > INJECTED
    )
    assert outcome(run, tmp_path).shown is False


def polls(every: int, after: int) -> list[Line]:
    return polls_at(*range(T0 - 2 * SECOND, INJECTED, every), *range(INJECTED + after, T0 + 20 * SECOND, after))


def polls_at(*times: int) -> list[Line]:
    metrics = {"group": "metrics.k8s.io", "class": "metrics"}
    return [request("list", "pods", at, **metrics, status=200 if at < INJECTED else 503) for at in times]


def test_metrics_unavailable_is_shown_by_polls_that_keep_their_pace(tmp_path: Path) -> None:
    run = failing("metrics_unavailable", exercised("metrics_unavailable", INJECTED), *polls(2 * SECOND, 2 * SECOND))
    assert outcome(run, tmp_path).shown is True


def test_metrics_unavailable_is_not_shown_by_polling_harder(tmp_path: Path) -> None:
    run = failing("metrics_unavailable", exercised("metrics_unavailable", INJECTED), *polls(2 * SECOND, SECOND))
    found = outcome(run, tmp_path)
    assert found.shown is False
    assert found.why is not None
    assert "polls" in found.why


def test_one_poll_before_and_the_first_that_failed_are_enough_to_know_the_pace(tmp_path: Path) -> None:
    seconds = (-2, 3, 8, 13)
    times = [INJECTED + second * SECOND for second in seconds]
    run = failing("metrics_unavailable", exercised("metrics_unavailable", INJECTED), *polls_at(*times))
    assert outcome(run, tmp_path).shown is True
    only_after = failing("metrics_unavailable", exercised("metrics_unavailable", INJECTED), *polls_at(*times[1:]))
    assert outcome(only_after, tmp_path / "after").shown is None


def test_metrics_unavailable_is_not_shown_by_keys_that_get_slower(tmp_path: Path) -> None:
    def slower(line: Line) -> Line:
        late = line["k"] == "input" and line["t"] >= INJECTED
        return line | {"seen": line["t"] + 3 * (line["seen"] - line["t"])} if late else line

    run = failing("metrics_unavailable", exercised("metrics_unavailable", INJECTED), *polls(2 * SECOND, 2 * SECOND))
    assert outcome(run.mapped(slower), tmp_path).shown is False


def log_run() -> SyntheticRun:
    opened = {"k": "mark", "t": INJECTED + SECOND, "name": "log_open", "boot": None}
    closing = {"k": "mark", "t": INJECTED + 7 * SECOND, "name": "log_closing", "boot": None}
    return failing("slow_logs", exercised("slow_logs", INJECTED + SECOND), opened, closing)


def test_slow_logs_is_shown_by_a_table_that_lives_on(tmp_path: Path) -> None:
    assert outcome(log_run(), tmp_path).shown is True


def test_slow_logs_is_not_shown_by_a_table_that_stands_still_for_one_second(tmp_path: Path) -> None:
    begin = INJECTED + 3 * SECOND
    run = log_run().without(
        lambda line: line["k"] == "probe" and line["m"]["k"] == "rendered" and begin <= line["m"]["t"] < begin + SECOND
    )
    found = outcome(run, tmp_path)
    assert found.shown is False
    assert found.why is not None
    assert "1 of 6" in found.why


def test_what_was_never_met_is_not_shown(tmp_path: Path) -> None:
    found = outcome(failing("throttled"), tmp_path)
    assert (found.injected, found.exercised, found.shown) == (1, 0, None)


def test_one_false_clause_decides_before_one_that_cannot_be_told() -> None:
    assert together([Clause("a", None), Clause("b", False)]) == (False, "b: did not hold")
    assert together([Clause("a", None), Clause("b", True)]) == (None, "a: cannot be told")
    assert together([Clause("a", True)]) == (True, None)
