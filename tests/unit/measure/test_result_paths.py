"""Metric paths are read off the model, and their units off their names."""

from __future__ import annotations

import pytest

from perfq.measure.result.paths import flags, is_metric, known_metric_paths, lookup
from perfq.profile.budget_file import preset
from perfq.profile.budgets import PRESETS, unit_of


@pytest.mark.parametrize("name", sorted(PRESETS))
def test_every_budget_of_every_preset_names_a_metric_that_results_have(name: str) -> None:
    assert [budget.path for budget in preset(name) if not is_metric(budget.path)] == []


def test_what_is_true_or_false_in_the_model_is_so_by_its_name_too() -> None:
    assert {path for path in known_metric_paths() if unit_of(path) == "bool"} == set(flags())


@pytest.mark.parametrize(
    ("path", "unit"),
    [
        ("latency.event_to_render.phases.steady.p95", "ns"),
        ("latency.input.count", "count"),
        ("trajectory.extra_wait_ns.mean", "ns"),
        ("trajectory.exec_ns_mean", "ns"),
        ("trajectory.memory_bytes.peak", "bytes"),
        ("process.client.rss_slope_bytes_per_min", "bytes/min"),
        ("replay.backlog.drain_ns", "ns"),
        ("load.achieved_rate", "/s"),
    ],
)
def test_the_unit_of_a_metric_is_told_by_its_name(path: str, unit: str) -> None:
    assert is_metric(path)
    assert unit_of(path) == unit


@pytest.mark.parametrize("path", ["latency.input.p96", "replay", "budgets.0.limit", "verdict.status", "latency"])
def test_what_no_result_has_is_no_metric(path: str) -> None:
    assert not is_metric(path)


def test_the_key_of_an_operation_may_hold_spaces_and_dots() -> None:
    path = "api.operations.list pods.metrics.k8s.io.count"
    assert is_metric(path)
    assert lookup({"api": {"operations": {"list pods.metrics.k8s.io": {"count": 3}}}}, path) == 3


def test_nothing_is_found_where_nothing_stands() -> None:
    assert lookup({"latency": {"input": None}}, "latency.input.p95") is None
    assert lookup({}, "latency.input.p95") is None
