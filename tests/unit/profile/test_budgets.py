"""Budgets: what people write on the command line and in budgets.yaml, in the metric's own unit."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from perfq.errors import UsageError
from perfq.profile.budget_file import budgets_of, load_budgets, preset
from perfq.profile.budgets import PRESETS, Conditions, nearest_metric, parse_budget
from perfq.profile.source import Source


@pytest.mark.parametrize(
    ("text", "operator", "limit", "unit"),
    [
        ("latency.event_to_render.p95<=250ms", "<=", 250_000_000, "ns"),
        ("latency.input.max < 1.5s", "<", 1_500_000_000, "ns"),
        ("latency.input.p95<=100000000", "<=", 100_000_000, "ns"),
        ("latency.input.count>=100", ">=", 100, "count"),
        ("replay.start.interactive_ns <= 10s", "<=", 10_000_000_000, "ns"),
        ("process.client.rss_peak_bytes<=512MiB", "<=", 512 << 20, "bytes"),
        ("process.client.rss_slope_bytes_per_min<=1MiB/min", "<=", 1 << 20, "bytes/min"),
        ("process.client.rss_slope_bytes_per_min<=1KiB/s", "<=", 60 << 10, "bytes/min"),
        ("process.client.cpu_seconds<90s", "<", 90.0, "s"),
        ("process.client.cpu_percent_max<=85%", "<=", 85.0, "percent"),
        ("process.client.cpu_percent_max<=150", "<=", 150, "percent"),
        ("load.achieved_rate>=9.9k/s", ">=", 9900.0, "/s"),
        ("replay.digests.match==true", "==", True, "bool"),
        ("replay.updates.dropped==0", "==", 0, "count"),
        ("replay.updates.rendered>1k", ">", 1000, "count"),
        ("api.operations.list pods.count<=1", "<=", 1, "count"),
        ("api.decoded_bytes<=1.5GB", "<=", 1_500_000_000, "bytes"),
    ],
)
def test_a_budget_is_read_in_the_unit_of_its_metric(text: str, operator: str, limit: float, unit: str) -> None:
    budget = parse_budget(text)
    assert (budget.operator, budget.limit, budget.unit) == (operator, limit, unit)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("latency.input.p95", "METRIC OPERATOR LIMIT"),
        ("<=250ms", "METRIC OPERATOR LIMIT"),
        ("latency.input.p95<=", "METRIC OPERATOR LIMIT"),
        ("latency.input.p95=100ms", "METRIC OPERATOR LIMIT"),
        ("latency.input.p95=<100ms", "METRIC OPERATOR LIMIT"),
        ("1ms<=latency.input.p95<=100ms", "METRIC OPERATOR LIMIT"),
        ("latency<=1ms", "dotted path"),
        ("latency..p95<=1ms", "dotted path"),
        ("latency.input.p95<=100MiB", "a duration such as"),
        ("latency.input.p95<=-1ms", "a duration such as"),
        ("process.client.rss_peak_bytes<=1s", "bytes such as"),
        ("replay.updates.dropped==0ms", "a count such as"),
        ("replay.digests.match==yes", "true or false"),
        ("replay.digests.match<=true", "replay.digests.match==true"),
    ],
)
def test_what_is_no_budget_says_what_is_expected(text: str, expected: str) -> None:
    with pytest.raises(ValueError, match=expected):
        parse_budget(text)


@pytest.mark.parametrize(
    ("sign", "holds"),
    [("<", [True, False, False]), ("<=", [True, True, False]), ("==", [False, True, False]),
     (">=", [False, True, True]), (">", [False, False, True])],
)  # fmt: skip
def test_each_operator_is_met_just_where_it_should_be(sign: str, holds: list[bool]) -> None:
    budget = parse_budget(f"replay.updates.coalesced{sign}10")
    assert [budget.met_by(value) for value in (9, 10, 11)] == holds


def test_a_phase_leads_to_the_figures_of_that_phase() -> None:
    assert parse_budget("latency.input.p95<=1s", Conditions(phase="burst")).path == "latency.input.phases.burst.p95"
    assert parse_budget("latency.input.p95<=1s", Conditions(phase="all")).path == "latency.input.p95"
    with pytest.raises(ValueError, match="where a phase is named"):
        parse_budget("replay.updates.dropped==0", Conditions(phase="steady"))


@given(st.text(max_size=30))
def test_any_text_is_a_budget_or_a_value_error(text: str) -> None:
    for candidate in (text, f"latency.input.p95<={text}", f"{text}<=1"):
        try:
            budget = parse_budget(candidate)
        except ValueError:
            continue
        assert parse_budget(budget.text) == budget


def test_a_budget_file_says_when_a_limit_applies_and_why() -> None:
    text = b"""
schema: perfq.budgets/v1
budgets:
  - metric: latency.event_to_screen.p95
    limit: "<=300ms"
    phase: steady
    min_duration: 30m
    min_rate: 20
    needs: [live]
    was: "<=250ms"
    rationale: the emulator of the new terminal needs longer
"""
    (budget,) = load_budgets(Source("budgets.yaml", text))
    assert budget.text == "latency.event_to_screen.p95 <= 300ms"
    assert (budget.phase, budget.min_duration, budget.min_rate, budget.needs) == ("steady", 1800, 20, ("live",))
    assert (budget.was, budget.rationale) == ("<=250ms", "the emulator of the new terminal needs longer")


def test_a_budget_file_names_all_its_errors() -> None:
    text = b"""schema: perfq.budgets/v2
budgets:
  - metric: latency.input.p95
    limits: "<=1s"
    phase: steedy
    min_duration: soon
"""
    with pytest.raises(UsageError) as caught:
        load_budgets(Source("b", text))
    assert list(caught.value.details) == [
        'b:1: schema: got "perfq.budgets/v2", expected perfq.budgets/v1',
        "b:3: budgets.0.limit: got nothing, expected text of at least 1 character",
        "b:4: budgets.0.limits: got an unknown key, expected one of metric, limit, phase, min_duration, min_rate, "
        "max_rate, needs, was, rationale (did you mean limit?)",
        'b:5: budgets.0.phase: got "steedy", expected one of steady, burst, all or null',
        'b:6: budgets.0.min_duration: got "soon", expected a duration such as 250ms, 10s or 2m',
    ]


def test_a_limit_that_does_not_fit_its_metric_is_named_with_its_line() -> None:
    text = b'schema: perfq.budgets/v1\nbudgets:\n  - metric: latency.input.p95\n    limit: "<=1MiB"\n'
    with pytest.raises(UsageError, match=r"b:4: budgets\.0\.limit: got latency.input.p95 <=1MiB, expected a duration"):
        load_budgets(Source("b", text))


@pytest.mark.parametrize("name", PRESETS)
def test_each_preset_is_a_budget_file_whose_limits_have_reasons(name: str) -> None:
    assert all(budget.rationale for budget in preset(name))


def test_the_preset_client_1k_holds_the_limits_of_the_specification() -> None:
    limits = {(budget.path, budget.operator): budget.limit for budget in preset("client-1k")}
    assert limits == {
        ("replay.updates.dropped", "=="): 0,
        ("replay.digests.match", "=="): True,
        ("api.unexpected_gets", "=="): 0,
        ("api.lists_per_scope_max", "<="): 1,
        ("api.watches_per_scope_max", "<="): 1,
        ("replay.scenarios_failed", "=="): 0,
        ("replay.start.list_to_populated_ns", "<="): 2_000_000_000,
        ("replay.start.interactive_ns", "<="): 10_000_000_000,
        ("latency.event_to_render.phases.steady.p95", "<="): 250_000_000,
        ("latency.input.p95", "<="): 100_000_000,
        ("replay.backlog.drain_ns", "<="): 3_000_000_000,
        ("process.client.rss_slope_bytes_per_min", "<="): 1 << 20,
        ("process.client.rss_peak_bytes", "<="): 512 << 20,
    }


def test_correctness_is_contained_in_client_1k_and_has_no_wall_clock_limit() -> None:
    correctness = preset("correctness")
    assert set(correctness) < set(preset("client-1k"))
    assert not [budget for budget in correctness if budget.unit in ("ns", "s", "/s")]


def test_flags_name_presets_files_and_limits_and_the_same_limit_counts_once(tmp_path: Path) -> None:
    file = tmp_path / "budgets.yaml"
    file.write_text('schema: perfq.budgets/v1\nbudgets: [{metric: latency.input.p99, limit: "<1s"}]')
    found = budgets_of([str(file), "latency.input.p95<=1s", "latency.input.p95<=1s"], ["correctness", "correctness"])
    assert [budget.metric for budget in found[6:]] == ["latency.input.p99", "latency.input.p95"]


def test_flags_that_name_nothing_are_usage_errors() -> None:
    with pytest.raises(UsageError, match=r"correctness, client-1k, terminal-1k, k8s-slo \(did you mean client-1k\?\)"):
        preset("client1k")
    with pytest.raises(UsageError, match="no such file"):
        budgets_of(["budget.yaml"], [])
    with pytest.raises(UsageError) as caught:
        budgets_of(["latency.input.p95<=1", "a.b<=1s", "c<1"], [])
    assert len(caught.value.details) == 2


def test_a_mistyped_metric_has_a_nearest_one() -> None:
    known = ["latency.input.p95", "replay.updates.dropped"]
    assert nearest_metric("latency.inptu.p95", known) == "latency.input.p95"
    assert nearest_metric("zzz", known) is None
