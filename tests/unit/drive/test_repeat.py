"""Repeats are summarised by median and spread; what one run lacks stays null."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from perfq.drive.repeat import repeat, summarize


def result(p95: int | None, status: str = "PASS") -> dict[str, Any]:
    return {
        "run_id": f"r-{p95}",
        "verdict": {"status": status},
        "latency": {"input": {"p95": p95, "unit": "ns"}},
        "replay": {"digests": {"match": True}, "updates": {"dropped": 0}},
    }


def test_figures_have_median_and_spread_and_flags_are_no_figures() -> None:
    summary = summarize([result(30), result(10), result(20)])
    assert summary["metrics"]["latency.input.p95"] == {"median": 20, "min": 10, "max": 30, "values": [30, 10, 20]}
    assert "replay.digests.match" not in summary["metrics"]


def test_a_figure_that_one_run_lacks_is_null_there_and_does_not_count() -> None:
    metric = summarize([result(30), result(None)])["metrics"]["latency.input.p95"]
    assert metric == {"median": 30, "min": 30, "max": 30, "values": [30, None]}


def test_the_worst_exit_code_counts_and_an_interruption_ends_the_series(tmp_path: Path) -> None:
    codes = iter([0, 3, 130, 0])

    def run(directory: Path, number: int) -> int:
        directory.mkdir()
        (directory / "result.json").write_text(json.dumps(result(number)))
        return next(codes)

    assert repeat(tmp_path / "out", 4, run) == 130
    summary = json.loads((tmp_path / "out" / "summary.json").read_text())
    assert [one["directory"] for one in summary["runs"]] == ["run-1", "run-2", "run-3"]
