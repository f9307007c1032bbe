"""The rules of replayed sessions: did the harness hold its plan, and is every session's time accounted for?"""

from __future__ import annotations

from typing import Final

from perfq.judge.harness_rules import room_checks
from perfq.judge.rule import AtMost, TailAtMost
from perfq.judge.run_rules import RunRules
from perfq.judge.trajectory_budgets import TrajectoryBudgets
from perfq.measure.harness import BUSY, LATE_NS
from perfq.measure.result.common import Check
from perfq.measure.result.trajectory import Trajectory
from perfq.measure.trajectory.recorded import TrajectoryRecorded

_BUSY: Final = (
    "the scheduler was held up: give the harness CPUs that the sessions do not use, run fewer sessions at once, or "
    "keep sampling off its thread (sampling.mode=isolated)"
)

LATE: Final = TailAtMost("arrival lateness", LATE_NS, "ns", _BUSY)
CPU: Final = AtMost("harness CPU share", BUSY, "ratio", _BUSY)
OPEN: Final = AtMost(
    "sessions whose time is not accounted for",
    0,
    "count",
    "the terms do not add up to the whole: the scheduler stood still, or this is a bug of perfq",
)
AUDITS: Final = AtMost("audits without an answer", 0, "count", "what could not be looked at proves nothing")
MISSED: Final = AtMost(
    "samples missed", 0.05, "ratio", "the reads were too slow or too many: fewer sources, or more sampling.workers"
)
READ_ERRORS: Final = AtMost("sessions whose sampling failed", 0, "count", "the sampler's own words are in the warnings")
LOST: Final = AtMost("samples lost", 0, "count", "resources.ndjson could not be written: make room, or change --out")
LEAKED: Final = AtMost("reads leaked", 0, "count", "a read did not end within sampling.drain_timeout_ms")
_MILLION: Final = 1_000_000


def trajectory_rules(recorded: TrajectoryRecorded) -> RunRules:
    """Every rule. Where no session was admitted, that alone is judged."""
    evidence = recorded.evidence
    began = Check(
        name="sessions started",
        observed="started" if evidence.began else evidence.failure or "none was ever admitted",
        limit=None,
        status="passed" if evidence.began else "failed",
    )
    return RunRules(
        checks=[began, *_checks(recorded)] if evidence.began else [began],
        budgets=TrajectoryBudgets(recorded.manifest, recorded.trajectory),
        began=evidence.began,
    )


def _checks(recorded: TrajectoryRecorded) -> list[Check]:
    evidence, block = recorded.evidence, recorded.trajectory
    scheduler = Check(
        name="scheduler",
        observed=evidence.failure or "no trouble",
        limit=None,
        status="passed" if evidence.failure is None else "failed",
    )
    cut_short = evidence.stop is not None or evidence.killed
    return [
        scheduler,
        LATE.check(block.arrival_late_ns),
        CPU.check(evidence.harness_cpu_share, absent="not_applicable" if _short(recorded) else "unknown"),
        *room_checks(evidence),
        OPEN.check(block.identity.open, absent="not_applicable" if cut_short else "unknown"),
        *_sampling(recorded),
        _audits(block),
    ]


def _short(recorded: TrajectoryRecorded) -> bool:
    """Of a run of less than two samples there is no share of anything."""
    harness = recorded.process.harness
    return harness is None or harness.samples < 2


def _sampling(recorded: TrajectoryRecorded) -> list[Check]:
    """Of a run that sampled, unless it was cut short."""
    sampling, mode = recorded.trajectory.sampling, recorded.manifest.sessions.sampling
    evidence = recorded.evidence
    rules = (MISSED, READ_ERRORS, LEAKED, LOST)
    if mode == "off" or evidence.killed or evidence.stop is not None:
        return [rule.check(None, absent="not_applicable") for rule in rules]
    coverage = None if sampling is None else sampling.coverage_ppm
    return [
        MISSED.check(None if coverage is None else 1 - coverage / _MILLION),
        READ_ERRORS.check(None if sampling is None else sampling.errors),
        LEAKED.check(None if sampling is None else sampling.leaked),
        LOST.check(None if sampling is None else sampling.lost),
    ]


def _audits(block: Trajectory) -> Check:
    """Which, and what was seen instead."""
    lacking = [one for one in block.audits.by_name if one.unknown]
    told = "; ".join(f"{one.name} ({one.evidence[0]})" if one.evidence else one.name for one in lacking)
    return AUDITS.check(block.audits.unknown, advice=f"{told}: {AUDITS.advice}" if told else None)
