"""How a search ends: with its answer, or with what it came to until then."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.unit.synthetic_load import Line, ideal_load, load_of

from perfq.drive.bisection import Bisection, Try
from perfq.drive.searching import Tried, search
from perfq.errors import TargetUnreachable
from perfq.judge.verdict import Judgement, judge


@pytest.fixture
def judgement(tmp_path: Path) -> Judgement:
    return judge(load_of(ideal_load().write(tmp_path / "run")))


def ended(*came: Tried | Exception) -> tuple[int, str, int]:
    """Code, why, and how many runs there were, where each came to this."""
    outcomes: Iterator[Tried | Exception] = iter(came)
    runs: list[Try] = []

    def once(tried: Try) -> Tried:
        runs.append(tried)
        outcome = next(outcomes)
        if isinstance(outcome, Exception):
            raise outcome
        return outcome

    code, why = search(Bisection(10, 10, confirmations=1), once, lambda value: f"{value:g}/s")
    return code, why, len(runs)


def test_what_holds_and_is_confirmed_is_found(judgement: Judgement) -> None:
    assert ended(Tried(judgement, True), Tried(judgement, True)) == (0, "confirmed", 2)


def test_what_does_not_hold_at_lo_is_not_found(judgement: Judgement) -> None:
    assert ended(Tried(judgement, False)) == (3, "not even 10/s held", 1)


def test_what_proves_nothing_is_tried_once_more_where_that_may_help(judgement: Judgement) -> None:
    assert ended(Tried(judgement, None), Tried(judgement, None))[2] == 2
    said = ended(Tried(judgement, None, again=False, why="too few"))
    assert said == (4, "at 10/s the run proved nothing (too few)", 1)


def test_a_target_that_falls_ends_it_with_its_own_code(judgement: Judgement) -> None:
    fallen = TargetUnreachable("the server: connection refused")
    assert ended(Tried(judgement, True), fallen) == (7, "at 10/s: the server: connection refused", 2)


@pytest.mark.parametrize(("why", "code"), [("SIGINT", 130), ("max-time", 4)])
def test_a_run_that_was_asked_to_end_is_not_tried_again(tmp_path: Path, why: str, code: int) -> None:
    stop: Line = {"k": "stop", "t": 1, "why": why, "figure": "asked to end"}
    stopped = judge(load_of(ideal_load().adding(stop).write(tmp_path / "run")))
    assert ended(Tried(stopped, None)) == (code, f"stopped by {why}: asked to end", 1)
