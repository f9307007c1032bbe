"""Validity comes first: does this run prove anything? Each rule with its figure, limit and advice.

A figure that should be there and is not makes a run invalid too: missing data is never a pass.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from perfq.measure.result.common import Check, Validity
from perfq.measure.wording import amount

#: What makes a run invalid.
_BREAKING: Final = ("failed", "unknown")


def validity_of(checks: Sequence[Check]) -> Validity:
    """Valid where no rule was broken."""
    return Validity(valid=not any(check.status in _BREAKING for check in checks), checks=list(checks))


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
