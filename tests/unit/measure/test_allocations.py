"""Allocation growth: the client's last word, in the result, beside it and in the report."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

from tests.unit.synthetic import SyntheticRun, ideal_run

from perfq.drive.rebuild import settle
from perfq.drive.rundir import RunDirectory


def linked(run: SyntheticRun, *, traced: bool) -> SyntheticRun:
    options = run.manifest.options.replace(allocations=traced, linked_run=".." if traced else "allocations")
    return replace(run, manifest=run.manifest.replace(options=options))


def with_growth(*sizes: int) -> SyntheticRun:
    """A traced run whose client sent one report before, of other lines."""
    run = linked(ideal_run(), traced=True)
    last = run.lines[-1]["t"]
    early = [{"file": "early.py", "line": 1, "bytes": 9_000_000, "count": 1}]
    late = [{"file": "late.py", "line": at, "bytes": size, "count": -at} for at, size in enumerate(sizes, 1)]
    run.said("alloc", last, seconds=1.0, traced_bytes=10, growth=early)
    run.said("alloc", last, seconds=2.5, traced_bytes=1 << 20, growth=late)
    return run


def test_the_last_report_is_in_the_result_in_a_file_of_its_own_and_its_largest_ten_in_the_report(
    tmp_path: Path,
) -> None:
    path = with_growth(*(1000 * size for size in range(1, 13))).write(tmp_path / "run")
    result = settle(RunDirectory(path)).result
    assert result.allocations is not None
    assert (result.allocations.seconds, result.allocations.traced_bytes) == (2.5, 1 << 20)
    assert [one.line for one in result.allocations.growth] == list(range(12, 0, -1))
    assert json.loads((path / "allocations.json").read_text()) == result.allocations.plain()
    assert "allocations.json" in {one.path for one in result.artifacts}
    report = (path / "report.md").read_text()
    assert "## Allocation growth" in report
    assert "`late.py:12`" in report
    assert "`late.py:3`" in report
    assert "`late.py:2`" not in report
    assert "early.py" not in report


def test_each_of_the_two_runs_names_the_other_and_says_that_they_are_never_compared(tmp_path: Path) -> None:
    for traced, where in ((False, "allocations/"), (True, "../")):
        path = linked(ideal_run(), traced=traced).write(tmp_path / str(traced))
        result = settle(RunDirectory(path)).result
        (link,) = [one for one in result.warnings if one.code == "linked_run"]
        assert where in link.text
        assert "tracing changes timing" in link.text
        assert "never compared" in link.text


def test_a_traced_client_that_sent_no_figures_has_none_and_the_result_says_why(tmp_path: Path) -> None:
    path = linked(ideal_run(), traced=True).write(tmp_path / "run")
    result = settle(RunDirectory(path)).result
    assert result.allocations is None
    (why,) = [one for one in result.warnings if one.field == "/allocations"]
    assert "sent no alloc line" in why.text
    assert not (path / "allocations.json").exists()


def test_an_ordinary_run_has_no_link_and_lacks_nothing(tmp_path: Path) -> None:
    result = settle(RunDirectory(ideal_run().write(tmp_path / "run"))).result
    assert not [one for one in result.warnings if one.code == "linked_run" or one.field == "/allocations"]
