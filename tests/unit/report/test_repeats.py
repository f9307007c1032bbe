"""The end of `--repeat`: what a reader sees without opening summary.json."""

from __future__ import annotations

from typing import Any

from perfq.drive.repeat import summarize
from perfq.report.repeats import repeats


def result(p95: int | None, status: str = "PASS") -> dict[str, Any]:
    return {
        "run_id": f"r-{p95}",
        "verdict": {"status": status},
        "latency": {"input": {"p95": p95}},
        "process": {"client": {"rss_peak_bytes": 64 << 20}},
    }


def test_median_and_spread_stand_in_their_units_with_the_runs_that_have_the_figure() -> None:
    text = repeats(summarize([result(30_000_000), result(10_000_000), result(None, "INVALID")]))
    lines = [line.split() for line in text.splitlines()]
    assert lines[0] == ["3", "runs:", "2", "PASS,", "1", "INVALID"]
    assert lines[1] == ["figure", "n", "median", "min", "max"]
    assert lines[2] == ["latency.input.p95", "2", "20", "ms", "10", "ms", "30", "ms"]
    assert lines[3] == ["process.client.rss_peak_bytes", "3", *["64", "MiB"] * 3]


def test_runs_without_a_figure_are_counted_and_show_no_table() -> None:
    empty = {"runs": [{"status": "INVALID"}, {"status": "INVALID"}], "metrics": {}}
    assert repeats(empty) == "2 runs: 2 INVALID\n"
