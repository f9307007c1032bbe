"""Budgets: met, missed, not applicable, not measurable."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.unit.synthetic import KUBECTL, SECOND, T0, SyntheticRun, ideal_run, profile

from perfq.judge.budgets import evaluate, margin
from perfq.judge.replay_budgets import ReplayBudgets
from perfq.judge.verdict import judge
from perfq.measure.fold import fold
from perfq.measure.replay_manifest import ReplayManifest
from perfq.measure.result.common import BudgetResult
from perfq.profile.budgets import Budget, Conditions, parse_budget


def result_of(run: SyntheticRun, budget: Budget, tmp_path: Path) -> BudgetResult:
    judged = judge(fold(run.budgeted(budget).write(tmp_path / "run")))
    return next(one for one in judged.result.budgets if one.metric == budget.metric)


def test_a_budget_that_is_met_says_by_how_much_and_from_how_many_samples(tmp_path: Path) -> None:
    one = result_of(ideal_run(), parse_budget("latency.input.p95<=100ms"), tmp_path)
    assert (one.status, one.observed, one.margin, one.n) == ("met", 29_000_000, 71_000_000, 20)


def test_a_budget_that_is_missed_has_a_negative_margin(tmp_path: Path) -> None:
    one = result_of(ideal_run(), parse_budget("latency.input.p95<=10ms"), tmp_path)
    assert (one.status, one.margin) == ("missed", -19_000_000)


def test_a_phase_is_judged_by_its_own_samples(tmp_path: Path) -> None:
    budget = parse_budget("latency.event_to_render.p95<=250ms", Conditions(phase="burst"))
    assert result_of(ideal_run(), budget, tmp_path).n == 100


@pytest.mark.parametrize(
    ("text", "conditions", "why"),
    [
        ("latency.input.p95<=1s", Conditions(min_duration=1800), "the plan lasts 10 s"),
        ("latency.event_to_render.p95<=1s", Conditions(phase="steady", min_rate=21), "at least 21/s"),
        ("replay.backlog.drain_ns<=3s", Conditions(max_rate=50), "at most 50/s"),
        ("latency.input.p95<=1s", Conditions(needs=("live",)), "live cluster"),
        ("latency.event_to_diff.p95<=1s", Conditions(), "rendered cell"),
        ("replay.failures_injected.gone.shown==true", Conditions(), "injects no gone"),
        ("load.achieved_rate>=10/s", Conditions(), "no load figures"),
    ],
)
def test_a_budget_that_the_plan_cannot_have_is_not_applicable(
    text: str, conditions: Conditions, why: str, tmp_path: Path
) -> None:
    one = result_of(ideal_run(), parse_budget(text, conditions), tmp_path)
    assert one.status == "not_applicable"
    assert one.why is not None
    assert why in one.why


@pytest.mark.parametrize(
    "text",
    [
        "latency.event_to_render.p95<=1s",
        "replay.digests.match==true",
        "replay.backlog.drain_ns<=3s",
        "latency.input.p95<=1s",
    ],
)
def test_a_budget_that_this_kind_of_client_cannot_have_is_not_applicable(text: str, tmp_path: Path) -> None:
    run = ideal_run().client(KUBECTL).without(lambda line: line["k"] in ("probe", "input"))
    one = result_of(run, parse_budget(text), tmp_path)
    assert one.status == "not_applicable"
    assert one.why is not None
    assert "kubectl" in one.why


def test_a_plan_without_bursts_has_no_burst_phase(tmp_path: Path) -> None:
    budget = parse_budget("latency.event_to_render.p95<=1s", Conditions(phase="burst"))
    assert result_of(ideal_run(profile(bursts=[])), budget, tmp_path).status == "not_applicable"


def test_too_few_samples_for_a_quantile_are_not_measurable_and_say_how_many_there_are(tmp_path: Path) -> None:
    run = ideal_run().budgeted(parse_budget("latency.input.p99<=1s"))
    result = judge(fold(run.write(tmp_path / "run"))).result
    assert result.budgets[0].status == "not_measurable"
    assert result.budgets[0].why == "p99 needs 100 samples, there are 20"
    assert result.verdict.status == "INVALID"


def test_a_backlog_that_never_drains_misses_its_budget(tmp_path: Path) -> None:
    stuck = ideal_run().without(
        lambda line: (
            line["k"] == "probe" and line["m"]["k"] in ("rendered", "coalesced") and line["m"]["t"] > T0 + 4 * SECOND
        )
    )
    one = result_of(stuck, parse_budget("replay.backlog.drain_ns<=3s"), tmp_path)
    assert (one.status, one.observed) == ("missed", None)


def test_only_the_bursts_within_the_rates_are_judged(tmp_path: Path) -> None:
    bursts = [
        {"start_second": 2, "duration_seconds": 1, "events_per_second": 100},
        {"start_second": 6, "duration_seconds": 1, "events_per_second": 300},
    ]
    budget = parse_budget("replay.backlog.drain_ns<=3s", Conditions(max_rate=100))
    one = result_of(ideal_run(profile(bursts=bursts)), budget, tmp_path)
    assert (one.status, one.n) == ("met", 1)


def test_every_item_of_a_list_has_to_hold() -> None:
    manifest = two_bursts()
    budget = parse_budget("replay.backlog.drain_ns<=3s")
    document = {"replay": {"backlog": {"drain_ns": [SECOND, 4 * SECOND]}}}
    one = evaluate(budget, document, ReplayBudgets(manifest))
    assert (one.status, one.observed, one.n) == ("missed", 4 * SECOND, 2)


def two_bursts() -> ReplayManifest:
    bursts = [{"start_second": at, "duration_seconds": 1, "events_per_second": 100} for at in (2, 6)]
    return ideal_run(profile(bursts=bursts)).manifest


@pytest.mark.parametrize(
    ("text", "observed", "expected"),
    [
        ("load.achieved_rate>=100/s", 110.0, 10.0),
        ("load.achieved_rate>100/s", 90.0, -10.0),
        ("replay.updates.dropped==0", 3, -3),
        ("replay.updates.dropped==0", 0, 0),
        ("replay.digests.match==true", True, None),
        ("latency.input.p95<=1s", None, None),
    ],
)
def test_the_margin_is_positive_inside_the_limit(text: str, observed: float | None, expected: float | None) -> None:
    assert margin(parse_budget(text), observed) == expected


def test_what_a_limit_was_and_why_it_changed_stay_with_it(tmp_path: Path) -> None:
    conditions = Conditions(was="latency.input.p95<=50ms", rationale="the machine is slower")
    one = result_of(ideal_run(), parse_budget("latency.input.p95<=100ms", conditions), tmp_path)
    assert (one.was, one.rationale) == ("latency.input.p95<=50ms", "the machine is slower")


def test_scenarios_that_were_not_asked_for_are_no_proof_that_none_fails(tmp_path: Path) -> None:
    run = ideal_run().without(lambda line: line["k"] == "scenario")
    options = run.manifest.options.replace(scenarios=[])
    run = replace(run, manifest=run.manifest.replace(options=options))
    one = result_of(run, parse_budget("replay.scenarios_failed==0"), tmp_path)
    assert (one.status, one.observed, one.why) == ("not_applicable", None, "no scenario was to be walked")


def test_scenarios_that_were_not_walked_to_the_end_are_no_proof_either(tmp_path: Path) -> None:
    run = ideal_run().without(lambda line: line["k"] == "scenario" and line["name"] == "sort")
    one = result_of(run, parse_budget("replay.scenarios_failed==0"), tmp_path)
    assert (one.status, one.n, one.why) == ("not_measurable", 1, "1 of 2 scenarios were walked")


def test_scenarios_count_how_many_were_walked(tmp_path: Path) -> None:
    one = result_of(ideal_run(), parse_budget("replay.scenarios_failed==0"), tmp_path)
    assert (one.status, one.observed, one.n) == ("met", 0, 2)


def test_scenarios_that_failed_are_named(tmp_path: Path) -> None:
    def failed(line: dict[str, Any]) -> dict[str, Any]:
        return line | {"ok": False} if line["k"] == "scenario" and line["name"] == "sort" else line

    run = ideal_run().mapped(failed)
    budget = parse_budget("replay.scenarios_failed==0")
    judged = judge(fold(run.budgeted(budget).write(tmp_path / "run")))
    one = next(one for one in judged.result.budgets if one.metric == budget.metric)
    assert (one.status, one.observed, one.why) == ("missed", 1, "sort")
    assert "budget missed: replay.scenarios_failed: 1 (sort), limit == 0, n 2" in judged.result.verdict.reasons
