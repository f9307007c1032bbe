"""Rules about the harness of a replay: did it hold its plan, had it room, is its record whole?"""

from __future__ import annotations

from typing import Final

from perfq.judge.harness_rules import room_checks
from perfq.judge.rule import AtMost, TailAtMost
from perfq.measure.harness import BUSY, LATE_NS
from perfq.measure.replay_recorded import ReplayRecorded
from perfq.measure.result.common import Check, CheckStatus

_BUSY: Final = "the machine is too busy for this plan: give the run more CPUs, or use a smaller profile"

LAG: Final = TailAtMost("commit_lag", LATE_NS, "ns", _BUSY)
EXECUTED: Final = AtMost("planned events not committed", 0, "count", _BUSY)
CPU: Final = AtMost("harness CPU share", BUSY, "ratio", _BUSY)
WATCH_GAP: Final = AtMost(
    "events missing in a watch", 0, "count", "the embedded server lost events: report this as a bug of perfq"
)


def replay_harness_checks(recorded: ReplayRecorded) -> list[Check]:
    """In the order in which a reader looks for a cause."""
    evidence = recorded.evidence
    return [
        LAG.check(
            recorded.latency.get("commit_lag"),
            absent="unknown" if recorded.replay.churn.planned else "not_applicable",
        ),
        _plan_executed(recorded),
        CPU.check(evidence.harness_cpu_share),
        *room_checks(evidence),
        _terminal(recorded),
        WATCH_GAP.check(evidence.missed_events),
        *_injections(recorded),
    ]


def _plan_executed(recorded: ReplayRecorded) -> Check:
    """Not asked of a run that was cut short: there it says nothing about the generator."""
    churn, evidence = recorded.replay.churn, recorded.evidence
    if recorded.replay.client_exit is not None or evidence.stop is not None or evidence.killed:
        return EXECUTED.check(None, absent="not_applicable")
    if churn.planned is None or churn.committed is None:
        return EXECUTED.check(None)
    return EXECUTED.check(churn.planned - churn.committed - (churn.skipped or 0))


def _terminal(recorded: ReplayRecorded) -> Check:
    """Terminal, supervisor and emulator are the harness's: what they missed of the client, the client did not miss."""
    evidence = recorded.evidence
    status: CheckStatus = "unknown" if evidence.killed else "failed" if evidence.terminal_trouble else "passed"
    advice = {
        "unknown": "perfq was killed before it could tell",
        "failed": "what the screen showed is not whole: run again",
    }
    return Check(
        name="terminal",
        observed=None if evidence.killed else evidence.terminal_trouble or "no trouble",
        limit=None,
        status=status,
        advice=advice.get(status),
    )


def _injections(recorded: ReplayRecorded) -> list[Check]:
    """An injection that nothing met proves nothing; which request was never made is said."""
    checks = []
    for kind, failure in recorded.replay.failures_injected.items():
        status: CheckStatus = "passed" if failure.injected and failure.exercised else "failed"
        if status == "failed" and recorded.replay.client_exit is not None:
            status = "not_applicable"
        what = "it was never injected" if not failure.injected else f"the client never made {_NEEDED[kind]}"
        checks.append(
            Check(
                name=f"{kind} exercised",
                observed=failure.exercised,
                limit="at least 1",
                status=status,
                advice=what if status == "failed" else None,
            )
        )
    return checks


_NEEDED: Final = {
    "gone": "a LIST or WATCH of pods after its watch was ended with 410",
    "throttled": "a LIST or WATCH of pods that could be refused with 429",
    "forbidden": "a LIST or WATCH of nodes that could be refused with 403",
    "slow": "a request in the slow window, and held no watch",
    "metrics_unavailable": "a request to metrics.k8s.io",
    "slow_logs": "a request for a Pod's log",
}
