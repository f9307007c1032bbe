"""Reports of replayed sessions, as Markdown, for a terminal and as JUnit, against golden files."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.unit.synthetic_sessions import MS, SECOND, T0, SyntheticSessions, ideal_sessions, sessions_of

from perfq.judge.verdict import judge
from perfq.measure.result import Result
from perfq.profile.budgets import parse_budget
from perfq.report.junit import junit
from perfq.report.markdown import markdown
from perfq.report.summary import summary

GOLDENS = Path(__file__).parent / "goldens"

RUNS: dict[str, SyntheticSessions] = {
    "pass": ideal_sessions().budgeted(parse_budget("trajectory.extra_wait_ns.mean<=50ms")),
    "fail": ideal_sessions()
    .changing("tj_session", n=1, outcome="failed", why="step 0: timed_out_uncleaned")
    .changing("tj_command", n=1, outcome="timed_out_uncleaned")
    .changing("tj_audit", n=1, status="fail", evidence="processes 7 still run"),
    "invalid": ideal_sessions()
    .changing("tj_session", n=2, exec=0)
    .adding({"k": "tj_audit", "t": T0, "n": 3, "name": "no_oom", "status": "unknown", "evidence": "no counter here"}),
    "killed": ideal_sessions().without(lambda line: line.get("name") == "end" or line["t"] > T0 + SECOND),
}


def result_of(name: str, tmp_path: Path) -> Result:
    return judge(sessions_of(RUNS[name].write(tmp_path / "run"))).result


@pytest.mark.parametrize("name", RUNS)
def test_the_reports_read_as_they_did(name: str, tmp_path: Path, golden: Callable[[Path, str], None]) -> None:
    result = result_of(name, tmp_path)
    golden(GOLDENS / f"sessions-{name}.md", markdown(result))
    golden(GOLDENS / f"sessions-{name}.txt", summary(result))


def test_junit_has_a_case_for_validity_and_each_budget(tmp_path: Path) -> None:
    suite = ET.fromstring(junit(result_of("fail", tmp_path))).find("testsuite")
    assert suite is not None
    cases = {case.get("name"): [child.tag for child in case] for case in suite.findall("testcase")}
    assert cases == {
        "validity": [],
        "trajectory.sessions.failed <= 0": ["failure"],
        "trajectory.audits.failed <= 0": ["failure"],
    }


def test_a_number_of_sessions_stays_in_the_chart_until_it_changes(tmp_path: Path) -> None:
    states = [
        {"k": "tj_state", "t": T0 + at, "n": 0, "state": state}
        for at, state in ((0, "admitted"), (100 * SECOND, "done"))
    ]
    run = ideal_sessions().without(lambda line: line["k"] == "tj_state").adding(*states)
    text = summary(judge(sessions_of(run.write(tmp_path / "run"))).result)
    bars = next(line for line in text.splitlines() if line.startswith("1 ┤")).removeprefix("1 ┤")
    assert set(bars[:-1]) == {"█"}
    assert len(bars) >= 60


def test_the_parts_of_the_extra_wait_stand_in_the_report(tmp_path: Path) -> None:
    at = T0 + SECOND
    stamps = {"pause_begin": at, "pause_end": at + 3 * MS, "resume_begin": at + 9 * MS, "resume_end": at + 10 * MS}
    run = ideal_sessions().changing("tj_wait", **stamps, next_issued=at + 10 * MS)
    text = markdown(judge(sessions_of(run.write(tmp_path / "run"))).result)
    assert "| pause | 3 ms | – | 3 ms |" in text
    assert "| resume | 1 ms | – | 1 ms |" in text
