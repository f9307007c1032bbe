"""Reports are pure functions of the result. Golden files: `pytest --update-goldens` writes them anew."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.unit.synthetic import KUBECTL, MS, SECOND, T0, Line, SyntheticRun, ideal_run, profile

from perfq.judge.verdict import judge
from perfq.measure.fold import fold
from perfq.measure.result import Result
from perfq.measure.result.whole import WholeResult
from perfq.profile.budget_file import preset
from perfq.profile.budgets import Conditions, parse_budget
from perfq.report.junit import junit
from perfq.report.markdown import markdown
from perfq.report.summary import Style, summary

GOLDENS = Path(__file__).parent / "goldens"


def _slower(line: Line) -> Line:
    """Every key takes four times as long, and one scenario does not reach its screen."""
    if line["k"] == "input":
        return line | {"seen": line["t"] + 4 * (line["seen"] - line["t"])}
    if line["k"] == "scenario" and line["name"] == "sort":
        return line | {"ok": False, "screen": "NAME | READY\n```\x1b[31mpod-000001\x07"}
    return line


def _pass() -> SyntheticRun:
    return ideal_run().budgeted(*preset("client-1k"))


def _fail() -> SyntheticRun:
    changed = parse_budget(
        "latency.input.p95<=100ms",
        Conditions(was="latency.input.p95<=50ms", rationale="a *slower* machine | by far"),
    )
    return ideal_run().mapped(_slower).budgeted(changed, *preset("correctness"))


def _invalid() -> SyntheticRun:
    """Late commits, a failure that nothing met, and a probe that said less than it received."""
    workload = profile(failures=[{"kind": "metrics_unavailable", "at_event": 100}])
    run = ideal_run(workload).mapped(
        lambda line: line | {"due": line["due"] - 12 * MS} if line["k"] == "commit" and line["due"] else line
    )
    injected = {"k": "fault", "t": T0 + 5 * SECOND, "kind": "metrics_unavailable", "ev": "injected", "detail": ""}
    return run.adding(injected).budgeted(parse_budget("latency.input.p99<=1s"))


def _aborted() -> SyntheticRun:
    return _pass().without(lambda line: line["t"] > T0 + 6 * SECOND + 500 * MS)


def _outside() -> SyntheticRun:
    run = ideal_run().client(KUBECTL).without(lambda line: line["k"] in ("probe", "input"))
    return run.budgeted(*preset("terminal-1k"))


RUNS: dict[str, Callable[[], SyntheticRun]] = {
    "pass": _pass,
    "fail": _fail,
    "invalid": _invalid,
    "aborted": _aborted,
    "outside": _outside,
}


def result_of(name: str, tmp_path: Path) -> Result:
    return judge(fold(RUNS[name]().write(tmp_path / "run"))).result


@pytest.mark.parametrize("name", sorted(RUNS))
def test_the_reports_of_a_run_are_as_they_were(name: str, tmp_path: Path, golden: Callable[[Path, str], None]) -> None:
    result = result_of(name, tmp_path)
    golden(GOLDENS / f"{name}.md", markdown(result))
    golden(GOLDENS / f"{name}.junit.xml", junit(result))
    golden(GOLDENS / f"{name}.txt", summary(result))


@pytest.mark.parametrize("name", sorted(RUNS))
def test_the_same_result_read_back_gives_the_same_reports(name: str, tmp_path: Path) -> None:
    result = result_of(name, tmp_path)
    again = WholeResult.from_json(result.to_json())
    assert again == result
    assert (markdown(again), junit(again), summary(again)) == (markdown(result), junit(result), summary(result))


@pytest.mark.parametrize("name", sorted(RUNS))
def test_the_first_lines_say_verdict_and_why(name: str, tmp_path: Path) -> None:
    result = result_of(name, tmp_path)
    assert result.verdict.status in markdown(result).splitlines()[0]
    assert summary(result).startswith(result.verdict.status)


def test_what_a_client_wrote_cannot_break_out_of_the_markdown(tmp_path: Path) -> None:
    text = markdown(result_of("fail", tmp_path))
    before, _, after = text.partition("````text\n")
    assert "pod-000001" in after.partition("\n````")[0]
    assert "pod-000001" not in before


def test_no_control_character_reaches_the_terminal_of_a_reader(tmp_path: Path) -> None:
    result = result_of("fail", tmp_path)
    hostile = result.replace(verdict=result.verdict.replace(reasons=["\x1b]0;title\x07 broken \x9b31m"]))
    text = summary(hostile)
    assert all(sign.isprintable() or sign == "\n" for sign in text)


def test_colours_come_only_where_they_are_asked_for(tmp_path: Path) -> None:
    result = result_of("fail", tmp_path)
    assert "\x1b[" not in summary(result)
    assert "\x1b[1;31mFAIL" in summary(result, Style(width=100, color=True))


@pytest.mark.parametrize("width", [20, 40, 80, 200])
def test_the_chart_fits_the_terminal(width: int, tmp_path: Path) -> None:
    text = summary(result_of("pass", tmp_path), Style(width=width))
    bars = [line for line in text.splitlines() if "┤" in line or "└" in line]
    assert all(len(line) <= width for line in bars)
    assert bool(bars) == (width >= 40)


def test_the_chart_spans_what_was_recorded_and_marks_no_burst_that_did_not_begin(tmp_path: Path) -> None:
    early = _pass().without(lambda line: line["t"] > T0 + 2 * SECOND)
    text = summary(judge(fold(early.write(tmp_path / "run"))).result)
    assert "event_to_render over 1.9" in text
    assert "━" not in text


def test_the_report_says_which_build_was_run_and_how_long_a_slope_stands_on(tmp_path: Path) -> None:
    result = result_of("pass", tmp_path)
    manifest = result.manifest
    built = manifest.perfq.replace(commit="c0ffee", build="debug, rustc 1.88.0")
    text = markdown(result.replace(manifest=manifest.replace(perfq=built)))
    assert f"| perfq | {manifest.perfq.version} (c0ffee, debug, rustc 1.88.0) |" in text
    assert "The RSS slopes come from 9.95 s of churn" in text


def test_junit_counts_what_it_lists(tmp_path: Path) -> None:
    for name, run in RUNS.items():
        suite = ET.fromstring(junit(judge(fold(run().write(tmp_path / name))).result)).find("testsuite")
        assert suite is not None
        cases = suite.findall("testcase")
        assert int(suite.attrib["tests"]) == len(cases)
        for tag, attribute in (("failure", "failures"), ("error", "errors"), ("skipped", "skipped")):
            assert int(suite.attrib[attribute]) == sum(case.find(tag) is not None for case in cases)


@pytest.mark.parametrize(
    ("name", "failures", "errors"), [("pass", 0, 0), ("fail", 2, 0), ("invalid", 0, 3), ("aborted", 0, 3)]
)
def test_junit_tells_a_missed_budget_from_a_run_that_proves_nothing(
    name: str, failures: int, errors: int, tmp_path: Path
) -> None:
    suite = ET.fromstring(junit(result_of(name, tmp_path))).find("testsuite")
    assert suite is not None
    assert (int(suite.attrib["failures"]), int(suite.attrib["errors"])) == (failures, errors)
