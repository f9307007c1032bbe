"""The reference client as a person and a driver meet it: a real terminal, the real server, real events."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Literal

import pytest
from tests.contract.viewer_rig import Rig, rig

pytestmark = pytest.mark.contract

SECOND = 1_000_000_000
DIRECTIONS: tuple[Literal["down", "up"], ...] = ("down", "up")


@pytest.fixture(scope="module")
def smoke(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Rig]:
    """One viewer on smoke-1k, for what leaves no trace."""
    with rig("smoke-1k", tmp_path_factory.mktemp("smoke")) as running:
        running.populated()
        yield running


def test_one_list_in_pages_and_one_watch_a_scope_and_no_other_request(smoke: Rig) -> None:
    smoke.until(lambda: len(smoke.open_watches()) == 2)
    lists = {(one["kind"], one["chains_complete"], one["objects"]) for one in smoke.server.progress()["lists"]}
    assert lists == {("pods", 1, 1000), ("nodes", 1, 5)}
    asked = {(one["kind"], one["verb"]) for one in smoke.requests("pods") + smoke.requests("nodes")}
    assert asked <= {("pods", "list"), ("pods", "watch"), ("nodes", "list"), ("nodes", "watch")}
    said = smoke.listener.progress()
    assert said["populated"] is not None
    assert said["populated"]["rows"] == 1000
    assert said["interactive_ns"] is not None
    assert said["bad_lines"] == 0


def test_the_driver_reads_rows_columns_and_cursor(smoke: Rig) -> None:
    smoke.until(lambda: len(smoke.terminal.rows(smoke.view)) > 20)
    first = smoke.terminal.rows(smoke.view)[0]
    assert first["key"] == ("bench-0000", "pod-000000")
    assert set(first["cells"]) >= {"NAMESPACE", "NAME", "READY", "STATUS", "RESTARTS", "NODE", "AGE"}
    smoke.until(lambda: smoke.terminal.cursor_row(smoke.view))
    for direction in DIRECTIONS:
        pressed = smoke.terminal.press(smoke.terminal.key(direction), direction, smoke.view, 10)
        assert pressed["outcome"] == "ok"
    assert smoke.terminal.progress()["unanswered"] == []


def test_each_scenario_reaches_its_screen_and_leads_back(smoke: Rig) -> None:
    smoke.until_shown(r"Pods 1000  in all namespaces")
    smoke.press("/")
    smoke.type("pod-000123")
    smoke.until_shown(r"Pods 1 of 1000")
    smoke.press("enter", "escape")
    smoke.until_shown(r"Pods 1000  in all")
    smoke.press("5", "5")
    smoke.until_shown(r"by RESTARTS ↓")
    smoke.press("s", "s", "s")
    smoke.until_shown(r"in all namespaces  on perfq")
    smoke.press("n")
    smoke.type("bench-0003")
    smoke.press("enter")
    smoke.until_shown(r"Pods 50 of 1000  in bench-0003")
    smoke.press("n", "enter")
    smoke.until_shown(r"Pods 1000  in all")
    smoke.press("p")
    smoke.until(lambda: "VERSION" not in smoke.shown())
    smoke.press("p")
    smoke.until_shown(r"NAME +STATUS +ROLES +CPU +MEMORY +AGE +VERSION")
    smoke.press("d")
    smoke.until_shown(r"Describe bench-0003/pod-000123(?s:.*)Node: +node-03")
    smoke.press("escape")
    smoke.until_shown(r"NAMESPACE +NAME")
    smoke.press("l")
    smoke.until_shown(r"Log bench-0003/pod-000123")
    smoke.press("escape")
    smoke.until_shown(r"NAMESPACE +NAME")


def test_another_size_fills_the_terminal_and_keeps_the_cursor(smoke: Rig) -> None:
    smoke.until(lambda: smoke.terminal.cursor_row(smoke.view))
    before = smoke.terminal.cursor_row(smoke.view)
    assert before is not None
    for cols, rows in ((80, 24), (200, 60), (160, 50)):
        assert smoke.terminal.resize(cols, rows, 10)["filled"] is not None
        smoke.until(lambda: smoke.terminal.cursor_row(smoke.view))
        after = smoke.terminal.cursor_row(smoke.view)
        assert after is not None
        assert after["key"] == before["key"]


def test_events_reach_the_screen_and_every_one_has_a_fate(tmp_path: Path) -> None:
    with rig("smoke-1k", tmp_path) as running:
        running.populated()
        running.until(lambda: len(running.terminal.rows(running.view)) > 20)
        namespace, name = running.terminal.rows(running.view)[5]["key"]
        running.terminal.expect_cell(0, (namespace, name), "RESTARTS", "1000000", running.view)
        committed = running.server.probe(0, namespace, name, 1_000_000)
        assert committed is not None
        running.until(lambda: [seen["i"] for seen in running.terminal.seen_cells()] == [0])
        running.server.restore(0, namespace, name)
        running.server.start_churn()
        running.until(lambda: running.server.progress()["churn"]["state"] == "ended")
        running.settled()
        assert running.server.digest() == running.plan.final_hash
        assert running.listener.progress()["received"] == running.plan.events + 2
        assert running.listener.progress()["dropped"] == 0
        running.press("q")
        running.until(lambda: running.terminal.progress()["exited"])
        exited = running.terminal.progress()["exited"]
        assert exited is not None
        assert (exited["code"], exited["signal"]) == (0, None)


@pytest.mark.long(21)
def test_gone_is_listed_again_and_the_pod_that_went_in_the_gap_is_nowhere(tmp_path: Path) -> None:
    with rig("fail-gone-1k", tmp_path) as running:
        running.populated()
        running.server.start_churn()
        running.until(lambda: running.server.progress()["churn"]["state"] == "ended", 90)
        running.settled()
        pods = next(one for one in running.server.progress()["lists"] if one["kind"] == "pods")
        assert pods["chains_complete"] == 2
        running.press("/")
        running.type("pod-gone")
        running.until_shown(r"Pods 0 of 1000")


@pytest.mark.long(21)
def test_throttled_waits_as_it_was_asked_to_and_loses_nothing(tmp_path: Path) -> None:
    with rig("fail-throttled-1k", tmp_path) as running:
        running.populated()
        running.server.start_churn()
        running.until_shown(r"429", 60)
        running.until(lambda: running.server.progress()["churn"]["state"] == "ended", 90)
        running.settled()
        assert "429" not in running.shown(), "taken back once all is well"
        after = [one for one in running.requests("pods") if one["verb"] in ("list", "watch")]
        first = next(i for i, one in enumerate(after) if one["status"] == 429)
        for refused, following in pairwise(after[first:]):
            if refused["status"] == 429:
                assert following["t"] - refused["t"] >= SECOND
        assert len(after[first:]) <= 6
        assert [one["verb"] for one in after[first:]] == ["watch"] * 4


@pytest.mark.long(21)
def test_forbidden_is_said_once_and_asked_again_at_most_every_thirty_seconds(tmp_path: Path) -> None:
    with rig("fail-forbidden-1k", tmp_path) as running:
        running.populated()
        running.until(lambda: len(running.open_watches()) == 2)
        running.server.start_churn()
        running.until_shown(r"403 .*forbidden", 60)
        running.until(lambda: running.server.progress()["churn"]["state"] == "ended", 90)
        running.settled()
        assert running.shown().lower().count("forbidden") == 1
        refused = [one["t"] for one in running.requests("nodes") if one["status"] == 403]
        assert refused
        assert all(later - earlier >= 30 * SECOND for earlier, later in pairwise(refused))
        running.until_shown(r"node-04 +Ready")


@pytest.mark.long(21)
def test_slow_keys_are_answered_while_the_server_is_slow(tmp_path: Path) -> None:
    with rig("fail-slow-1k", tmp_path) as running:
        running.populated()
        running.until(lambda: running.terminal.cursor_row(running.view))
        running.server.start_churn()
        running.until(lambda: running.server.progress()["faults"].get("slow"), 60)
        for direction in DIRECTIONS * 5:
            pressed = running.terminal.press(running.terminal.key(direction), direction, running.view, 10)
            assert pressed["outcome"] == "ok"
            assert pressed["seen"] is not None
            assert pressed["sent"] is not None
            assert pressed["seen"] - pressed["sent"] < SECOND
        running.until(lambda: running.server.progress()["churn"]["state"] == "ended", 90)
        running.settled()


@pytest.mark.long(21)
def test_metrics_that_are_unavailable_are_said_so_and_asked_for_no_faster(tmp_path: Path) -> None:
    with rig("fail-metrics_unavailable-1k", tmp_path) as running:
        running.populated()
        running.until_shown(r"cpu [0-9.]+ cores")
        running.server.start_churn()
        running.until_shown(r"metrics unavailable \(503\)", 60)
        running.until(lambda: running.server.progress()["churn"]["state"] == "ended", 90)
        running.settled()
        polls = [line["t"] for line in _requests_of_class(running, "metrics")]
        assert all(later - earlier >= 5 * SECOND for earlier, later in pairwise(polls))


@pytest.mark.long(21)
def test_slow_logs_updates_go_on_behind_the_log(tmp_path: Path) -> None:
    with rig("fail-slow_logs-1k", tmp_path) as running:
        running.populated()
        running.server.start_churn()
        running.until(lambda: running.listener.progress()["rendered"] > 0)
        running.press("l")
        running.until_shown(r"Log bench-0000/")
        for _ in range(3):
            before = running.listener.progress()["rendered"]
            running.until(lambda before=before: running.listener.progress()["rendered"] > before)  # type: ignore[misc]
        running.until(lambda: running.server.progress()["churn"]["state"] == "ended", 90)
        running.settled()
        running.press("escape")
        running.until_shown(r"NAMESPACE +NAME")


def test_a_server_that_dies_is_said_in_place_and_found_again(tmp_path: Path) -> None:
    with rig("smoke-1k", tmp_path) as running:
        running.populated()
        running.server.stop()
        running.until_shown(r"connection (refused|reset)|no answer|ended", 60)
        running.until_shown(r"bench-0000 +pod-000000")
        running.press("q")
        running.until(lambda: running.terminal.progress()["exited"])


def colours(cast: Path) -> set[str]:
    """Parameters of all colours that were set, reset to the terminal's own (39, 49) left out."""
    output = "".join(json.loads(line)[2] for line in cast.read_text().splitlines()[1:] if json.loads(line)[1] == "o")
    found: set[str] = set()
    for parameters in re.findall(r"\x1b\[([0-9;]*)m", output):
        numbers = parameters.split(";")
        if "38" in numbers or "48" in numbers:
            found.add(parameters)
        found |= {one for one in numbers if re.fullmatch(r"3[0-7]|4[0-7]|9[0-7]|10[0-7]", one)}
    return found


@pytest.mark.parametrize("no_colour", [False, True], ids=["colour", "NO_COLOR"])
def test_colours_are_the_terminals_own_and_none_where_none_are_wanted(tmp_path: Path, no_colour: bool) -> None:
    with rig("smoke-1k", tmp_path, env={"NO_COLOR": "1"} if no_colour else {}) as running:
        running.populated()
        running.until(lambda: running.terminal.cursor_row(running.view))
        running.server.start_churn()
        running.until_shown(r"Pending")
        running.press("q")
        running.until(lambda: running.terminal.progress()["exited"])
    found = colours(tmp_path / "terminal.cast")
    # Backgrounds and shades of one's own would be wrong on either light or dark.
    assert found == (set() if no_colour else {"33", "36"})


def test_a_token_that_is_not_accepted_is_said_so(tmp_path: Path) -> None:
    with rig("smoke-1k", tmp_path, token="wrong") as running:
        running.until_shown(r"401 Unauthorized: the token has expired or is not accepted", 60)


def _requests_of_class(running: Rig, name: str) -> list[dict[str, int]]:
    running.recorder.flush()
    lines = [json.loads(line) for line in running.samples.read_text().splitlines()]
    return [line for line in lines if line["k"] == "req" and line["class"] == name]
