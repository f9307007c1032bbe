"""Whether a rate held, told from a step's result."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from tests.unit.synthetic_load import SECOND, Line, SyntheticLoad, histogram, ideal_load, load_of

from perfq.drive.searching import Tried
from perfq.errors import UsageError
from perfq.judge.verdict import judge
from perfq.load.search_step import outcome, refuse_few_samples, step_budgets
from perfq.profile.budgets import Budget, parse_budget

RATE = 100.0


def tried(run: SyntheticLoad, tmp_path: Path, *asked: Budget) -> Tried:
    return outcome(judge(load_of(run.budgeted(*step_budgets(asked, RATE)).write(tmp_path / "run"))))


def failing(share: int) -> Callable[[Line], Line]:
    """So many of 100 requests a second are turned away."""

    def change(line: Line) -> Line:
        times = {"load_slice": 1, "load_end": 10}.get(line["k"])
        counts = {"ok": (100 - share) * (times or 0), "errors": {"http/429": share * (times or 0)}}
        return line if times is None else line | counts

    return change


def lagging(line: Line) -> Line:
    if line["k"] == "load_slice":
        line["latency"] = line["latency"] | {"lag": histogram([2 * SECOND] * 100)}
    return line


def test_an_ideal_step_holds(tmp_path: Path) -> None:
    assert tried(ideal_load(), tmp_path).held is True


@pytest.mark.parametrize(
    ("budgets", "holds"),
    [
        ([], False),
        (["latency.response.p99<=1s"], False),
        (["load.errors.http/429<=1000"], False),
        (["load.error_share<=10%"], True),
    ],
)
def test_errors_are_judged_whatever_else_is(tmp_path: Path, budgets: list[str], holds: bool) -> None:
    assert tried(ideal_load().mapped(failing(5)), tmp_path, *map(parse_budget, budgets)).held is holds


def test_a_generator_that_was_late_proves_nothing_and_is_asked_again(tmp_path: Path) -> None:
    came = tried(ideal_load().mapped(lagging), tmp_path)
    assert (came.held, came.again) == (None, True)


def test_too_few_samples_prove_nothing_and_no_second_try_gives_more(tmp_path: Path) -> None:
    came = tried(ideal_load(seconds=5), tmp_path, parse_budget("latency.response.p999<=10s"))
    assert (came.held, came.again) == (None, False)
    assert came.why == (
        "latency.response.p999: p999 needs 1000 samples, there are 500; a longer --step has more samples"
    )


def test_what_misses_a_budget_does_not_hold_although_another_figure_is_lacking(tmp_path: Path) -> None:
    budgets = parse_budget("latency.response.p999<=10s"), parse_budget("latency.response.p50<=1ns")
    assert tried(ideal_load(seconds=5), tmp_path, *budgets).held is False


def test_a_step_too_short_for_a_percentile_is_refused_with_the_step_that_is_long_enough() -> None:
    p99 = [parse_budget("latency.response.p99<=1s")]
    with pytest.raises(UsageError, match=r"--step: 3 s at 10/s are 30 requests.*needs 100: expected at least 10 s"):
        refuse_few_samples(p99, 10, 3)
    refuse_few_samples(p99, 10, 10)
    refuse_few_samples([parse_budget("latency.response.p95<=1s"), parse_budget("load.ok>=1")], 1, 3)
