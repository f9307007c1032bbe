"""Rules about the harness: did it hold its plan, had it room, is its record whole?"""

from __future__ import annotations

from typing import Final

from perfq.judge.rule import AtMost
from perfq.measure.recorded import Recorded
from perfq.measure.result.common import Check, CheckStatus

_BUSY: Final = "the machine is too busy for this plan: give the run more CPUs, or use a smaller profile"

LAG: Final = AtMost("commit_lag p99", 10_000_000, "ns", _BUSY)
LAG_OF_FEW: Final = AtMost("commit_lag max", 10_000_000, "ns", _BUSY)
EXECUTED: Final = AtMost("planned events not committed", 0, "count", _BUSY)
CPU: Final = AtMost("harness CPU share", 0.85, "ratio", _BUSY)
MEMORY: Final = AtMost("memory share", 0.85, "ratio", "raise the memory limit of this cgroup")
DESCRIPTORS: Final = AtMost("file descriptor share", 0.85, "ratio", "raise `ulimit -n`")
THROTTLED: Final = AtMost("CPU throttled share", 0.05, "ratio", "raise the CPU quota of this cgroup")
#: Below the limit, the clocks' distance is the time between reading them.
SLEPT: Final = AtMost("machine slept", 100_000_000, "ns", "keep the machine awake and run again")
WATCH_GAP: Final = AtMost(
    "events missing in a watch", 0, "count", "the embedded server lost events: report this as a bug of perfq"
)
RECORD: Final = AtMost("lines missing in the record", 0, "count", "the record has holes")


def harness_checks(recorded: Recorded) -> list[Check]:
    """In the order in which a reader looks for a cause. Where a system has no such limit, a rule does not apply."""
    evidence = recorded.evidence
    return [
        _lag(recorded),
        _plan_executed(recorded),
        CPU.check(evidence.harness_cpu_share),
        MEMORY.check(evidence.memory_share, absent="not_applicable"),
        DESCRIPTORS.check(evidence.harness_fd_share, absent="not_applicable"),
        THROTTLED.check(evidence.throttled_share, absent="not_applicable"),
        SLEPT.check(evidence.slept_ns),
        _record_whole(recorded),
        WATCH_GAP.check(evidence.missed_events),
        *_injections(recorded),
    ]


def _lag(recorded: Recorded) -> Check:
    """p99, or the maximum where there are fewer than 100 events."""
    lag = recorded.latency.get("commit_lag")
    if lag is None:
        return LAG_OF_FEW.check(None, absent="unknown" if recorded.replay.churn.planned else "not_applicable")
    return LAG_OF_FEW.check(lag.max) if lag.p99 is None else LAG.check(lag.p99)


def _plan_executed(recorded: Recorded) -> Check:
    """Not asked of a run that was cut short: there it says nothing about the generator."""
    churn, evidence = recorded.replay.churn, recorded.evidence
    if recorded.replay.client_exit is not None or evidence.stop is not None or evidence.killed:
        return EXECUTED.check(None, absent="not_applicable")
    if churn.planned is None or churn.committed is None:
        return EXECUTED.check(None)
    return EXECUTED.check(churn.planned - churn.committed - (churn.skipped or 0))


def _record_whole(recorded: Recorded) -> Check:
    evidence = recorded.evidence
    advice = None
    if evidence.recorder_error is not None:
        advice = f"samples.ndjson could not be written ({evidence.recorder_error}): make room, or use another --out"
    elif evidence.named_bad_lines:
        advice = f"samples.ndjson cannot be read in full ({evidence.named_bad_lines[0]})"
    return RECORD.check(evidence.bad_lines + evidence.lost_lines, advice=advice)


def _injections(recorded: Recorded) -> list[Check]:
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
