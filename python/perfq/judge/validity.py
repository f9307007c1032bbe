"""Validity comes first: does this run prove anything? Each rule with its figure, limit and advice.

A figure that should be there and is not makes a run invalid too: missing data is never a pass.
"""

from __future__ import annotations

from typing import Final

from perfq.judge.client_rules import client_checks
from perfq.judge.harness_rules import harness_checks
from perfq.measure.recorded import Recorded
from perfq.measure.result.common import Check, Validity
from perfq.measure.wording import amount

#: What makes a run invalid.
_BREAKING: Final = ("failed", "unknown")


def judge_validity(recorded: Recorded) -> Validity:
    """Every rule of a replay. Where churn never began, that alone is judged."""
    ready = _ready(recorded)
    if not recorded.evidence.churn_began:
        return Validity(valid=False, checks=[ready])
    checks = [ready, *harness_checks(recorded), *client_checks(recorded)]
    return Validity(valid=not any(check.status in _BREAKING for check in checks), checks=checks)


def complaints(validity: Validity) -> list[str]:
    """One sentence for each rule that was broken."""
    return [sentence(check) for check in validity.checks if check.status in _BREAKING]


def sentence(check: Check) -> str:
    """`commit_lag p99: 12.1 ms, limit 10 ms; ADVICE`."""
    if check.status == "unknown":
        seen = f"{check.name}: not measured"
    elif check.limit is None:
        seen = f"{check.name}: {amount(check.observed, check.unit)}"
    else:
        seen = f"{check.name}: {amount(check.observed, check.unit)}, limit {amount(check.limit, check.unit)}"
    return f"{seen}; {check.advice}" if check.advice else seen


def _ready(recorded: Recorded) -> Check:
    evidence = recorded.evidence
    return Check(
        name="client ready",
        observed="ready" if evidence.churn_began else evidence.not_ready,
        limit=None,
        status="passed" if evidence.churn_began else "failed",
    )
