"""The rules of a request load: did the generator hold its plan, and is every request accounted for?"""

from __future__ import annotations

from typing import Final

from perfq.judge.harness_rules import room_checks
from perfq.judge.load_budgets import LoadBudgets
from perfq.judge.rule import AtMost, TailAtMost
from perfq.judge.run_rules import RunRules
from perfq.measure.harness import BUSY, LATE_NS
from perfq.measure.load.recorded import LoadRecorded
from perfq.measure.result.common import Check
from perfq.measure.wording import number

_BUSY: Final = (
    "the generator was late by its own doing: give it more CPUs, ask for a lower rate, or spread the load over runners "
    "on several machines"
)

LAG: Final = TailAtMost("lag", LATE_NS, "ns", _BUSY)
SHORT: Final = AtMost("rate lost to lag", 0.01, "ratio", "this shortfall is the generator's own")
CPU: Final = AtMost("engine CPU share", BUSY, "ratio", _BUSY)
UNFINISHED: Final = AtMost(
    "requests cancelled or not sent",
    0.001,
    "ratio",
    "the target did not answer in time: look at the errors, and give it longer with --grace, or --timeout to give up "
    "on requests one by one",
)
FATE: Final = AtMost(
    "requests without a fate", 0, "count", "the counts do not add up to the plan: report this as a bug of perfq"
)
SUMS: Final = AtMost("requests missing in the record", 0, "count", "the seconds do not add up to the engine's totals")


def load_rules(recorded: LoadRecorded) -> RunRules:
    """Every rule of a load. Where it never began, that alone is judged."""
    evidence = recorded.evidence
    began = Check(
        name="load started",
        observed="started" if evidence.began else evidence.failure or "it never began",
        limit=None,
        status="passed" if evidence.began else "failed",
    )
    return RunRules(
        checks=[began, *_checks(recorded)] if evidence.began else [began],
        budgets=LoadBudgets(recorded.manifest, recorded.load),
        began=evidence.began,
        failure=_no_success(recorded),
    )


def _no_success(recorded: LoadRecorded) -> str | None:
    """A target that turns every request away keeps the rate, and is fast at it."""
    load = recorded.load
    if load.ok or not load.planned:
        return None
    return f"no request succeeded: 0 of {number(load.planned)}"


def _checks(recorded: LoadRecorded) -> list[Check]:
    failure = recorded.evidence.failure
    engine = Check(
        name="engine",
        observed=failure or "no trouble",
        limit=None,
        status="passed" if failure is None else "failed",
        advice=None if failure is None else "what was measured until then is here",
    )
    return [engine, *_generator_checks(recorded), *_account_checks(recorded)]


def _generator_checks(recorded: LoadRecorded) -> list[Check]:
    """In the order in which a reader looks for a cause."""
    evidence, load = recorded.evidence, recorded.load
    lost = evidence.short if load.cause == "lag" else None if evidence.short is None else 0.0
    return [
        LAG.check(recorded.latency.get("lag"), absent="not_applicable" if _nothing_sent(recorded) else "unknown"),
        SHORT.check(lost, absent="not_applicable"),
        # A closed loop keeps its workers busy by its nature; a warning says where they were the limit.
        CPU.check(evidence.engine_cpu_share, absent="not_applicable" if load.closed else "unknown"),
        *room_checks(evidence),
    ]


def _nothing_sent(recorded: LoadRecorded) -> bool:
    """At an instant of its own: a closed loop has none that are due. What was never sent has no lag."""
    return recorded.load.closed or recorded.load.sent == 0


def _account_checks(recorded: LoadRecorded) -> list[Check]:
    """Not asked of a run that was cut short: there it says nothing about target or generator."""
    evidence = recorded.evidence
    if evidence.stop is not None or evidence.killed:
        return [rule.check(None, absent="not_applicable") for rule in (UNFINISHED, FATE, SUMS)]
    return [
        UNFINISHED.check(evidence.unexplained_share),
        FATE.check(None if evidence.without_a_fate is None else abs(evidence.without_a_fate)),
        SUMS.check(evidence.differing),
    ]
