"""Replayed sessions judged: validity before budgets, and what always holds."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest
from tests.unit.synthetic_sessions import BOOT, MS, SECOND, T0, SyntheticSessions, ideal_sessions, sessions_of

from perfq.judge.verdict import Judgement, judge
from perfq.measure.result.schema import shipped
from perfq.profile.budgets import parse_budget

SCHEMA = jsonschema.Draft202012Validator(json.loads(shipped()))


def judged(run: SyntheticSessions, tmp_path: Path) -> Judgement:
    judgement = judge(sessions_of(run.write(tmp_path / "run")))
    SCHEMA.validate(judgement.result.plain())
    return judgement


def broken(judgement: Judgement) -> list[str]:
    return [check.name for check in judgement.result.validity.checks if check.status in ("failed", "unknown")]


def test_ideal_sessions_pass(tmp_path: Path) -> None:
    judgement = judged(ideal_sessions(), tmp_path)
    assert (judgement.result.verdict.status, judgement.exit_code) == ("PASS", 0), judgement.result.verdict.reasons
    assert {one.metric: one.status for one in judgement.result.budgets} == {
        "trajectory.sessions.failed": "met",
        "trajectory.audits.failed": "met",
    }


@pytest.mark.parametrize(
    ("run", "rule"),
    [
        (ideal_sessions().changing("tj_session", n=2, exec=0), "sessions whose time is not accounted for"),
        (ideal_sessions().changing("tj_session", n=2, submitted=T0 + 11 * MS), "arrival lateness max"),
        (
            ideal_sessions().adding({"k": "tj_audit", "t": T0, "n": 1, "name": "no OOM", "status": "unknown"}),
            "audits without an answer",
        ),
        (ideal_sessions().changing("mark", boot=BOOT + SECOND), "machine slept"),
        (
            ideal_sessions().adding({"k": "mark", "t": T0, "name": "failed", "why": "too many open files"}),
            "scheduler",
        ),
        (
            ideal_sessions().adding(
                {"k": "process", "t": T0 + 2600 * MS, "who": "harness", "cpu_ns": 9 * SECOND, "rss": 1}
            ),
            "harness CPU share",
        ),
    ],
)
def test_a_run_that_proves_nothing_is_invalid(run: SyntheticSessions, rule: str, tmp_path: Path) -> None:
    judgement = judged(run, tmp_path)
    assert rule in broken(judgement)
    assert (judgement.result.verdict.status, judgement.exit_code) == ("INVALID", 4)


def test_a_run_that_sampled_needs_the_sampler_s_figures(tmp_path: Path) -> None:
    judgement = judged(ideal_sessions().done(sampling="isolated"), tmp_path)
    assert broken(judgement) == ["samples missed", "sessions whose sampling failed", "reads leaked", "samples lost"]


def test_where_no_session_was_admitted_that_alone_is_judged(tmp_path: Path) -> None:
    run = ideal_sessions().without(lambda line: line["k"].startswith("tj_"))
    assert broken(judged(run, tmp_path)) == ["sessions started"]


def test_a_session_that_failed_fails_the_run(tmp_path: Path) -> None:
    run = ideal_sessions().changing("tj_session", n=1, outcome="failed", why="step 0: timed_out_uncleaned")
    judgement = judged(run, tmp_path)
    assert (judgement.result.verdict.status, judgement.exit_code) == ("FAIL", 3)
    assert judgement.result.verdict.reasons == ["budget missed: trajectory.sessions.failed: 1, limit <= 0"]


def test_an_audit_that_failed_fails_the_run(tmp_path: Path) -> None:
    run = ideal_sessions().adding(
        {"k": "tj_audit", "t": T0, "n": 1, "name": "no_oom", "status": "fail", "evidence": "OOM kills in its cgroup: 2"}
    )
    judgement = judged(run, tmp_path)
    assert judgement.exit_code == 3
    assert judgement.result.trajectory is not None
    assert judgement.result.trajectory.audits.by_name[-1].evidence == ["session 1: OOM kills in its cgroup: 2"]


def test_budgets_are_about_sessions(tmp_path: Path) -> None:
    run = ideal_sessions().budgeted(
        parse_budget("trajectory.extra_wait_ns.mean<=1ms"),
        parse_budget("trajectory.extra_wait_ns.max<1ms"),
        parse_budget("trajectory.memory_bytes.mean<=1GiB"),
        parse_budget("latency.response.p99<=1s"),
    )
    judgement = judged(run, tmp_path)
    statuses = {f"{one.metric} {one.op}": (one.status, one.n) for one in judgement.result.budgets}
    assert statuses["trajectory.extra_wait_ns.mean <="] == ("met", 8)
    assert statuses["trajectory.extra_wait_ns.max <"] == ("missed", 8)
    assert statuses["trajectory.memory_bytes.mean <="] == ("not_applicable", None)
    assert statuses["latency.response.p99 <="] == ("not_applicable", None)
    assert judgement.exit_code == 3


def test_a_figure_that_a_budget_needs_and_that_is_not_there_makes_the_run_invalid(tmp_path: Path) -> None:
    run = ideal_sessions().budgeted(parse_budget("trajectory.cpu_seconds<=1s"))
    assert broken(judged(run, tmp_path)) == ["budgets without their figure"]


@pytest.mark.parametrize(("why", "code"), [("SIGINT", 130), ("lag", 4)])
def test_a_run_that_was_stopped_is_aborted(why: str, code: int, tmp_path: Path) -> None:
    judgement = judged(ideal_sessions().adding({"k": "stop", "t": T0 + SECOND, "why": why, "figure": "f"}), tmp_path)
    assert (judgement.result.verdict.status, judgement.exit_code) == ("ABORTED", code)
    assert judgement.result.trajectory is not None
    assert judgement.result.trajectory.makespan_ns is None
