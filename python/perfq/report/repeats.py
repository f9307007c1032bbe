"""What several runs of the same workload came to, for a terminal: the median and the spread of a few figures."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from perfq.measure.wording import amount
from perfq.profile.budgets import unit_of
from perfq.report.plain import columns

#: Shown where a run has them, in this order; summary.json has every figure.
_SHOWN: Final = (
    "load.achieved_rate",
    "load.error_share",
    "latency.response.p50",
    "latency.response.p99",
    "latency.service.p99",
    "latency.lag.p99",
    "trajectory.makespan_ns",
    "trajectory.extra_wait_ns.mean",
    "trajectory.extra_wait_ns.max",
    "trajectory.queue_ns.memory",
    "trajectory.queue_ns.launch",
    "trajectory.peak_concurrency",
    "trajectory.memory_bytes.mean",
    "trajectory.memory_bytes.peak",
    "trajectory.cpu_seconds",
    "trajectory.exec_ns_mean",
    "trajectory.sampling.coverage_ppm",
    "trajectory.scheduler_delay_ns.p99",
    "replay.churn.achieved_rate",
    "replay.start.interactive_ns",
    "replay.start.list_to_populated_ns",
    "replay.start.populated_screen_ns",
    "latency.commit_lag.p95",
    "latency.event_to_render.p95",
    "latency.event_to_screen.p95",
    "latency.input.p95",
    "process.client.cpu_seconds",
    "process.client.rss_peak_bytes",
)


def repeats(summary: Mapping[str, Any]) -> str:
    """`perfq.summary/v1` as text: how each run ended, then median, least and most of a few figures and their n."""
    states = [run["status"] for run in summary["runs"]]
    counts = ", ".join(f"{states.count(status)} {status}" for status in dict.fromkeys(states))
    lines = [f"{len(states)} runs: {counts}", *columns(list(_rows(summary["metrics"])), right=range(1, 5))]
    return "\n".join(lines) + "\n"


def _rows(metrics: Mapping[str, Any]) -> Iterator[Sequence[str]]:
    known = [path for path in _SHOWN if path in metrics]
    if known:
        yield "figure", "n", "median", "min", "max"
    for path in known:
        one, unit = metrics[path], unit_of(path)
        n = sum(value is not None for value in one["values"])
        yield path, str(n), *(amount(one[name], unit) for name in ("median", "min", "max"))
