"""What judging asks of each kind of run; the rest of judging is the same for all."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from perfq.judge.budget_rules import BudgetRules
from perfq.measure.result.common import Check


@dataclass(frozen=True)
class RunRules:
    """One run, seen through the rules of its kind."""

    checks: Sequence[Check]
    budgets: BudgetRules
    #: The load began, so that figures are owed. Where it did not, that alone is judged.
    began: bool
    #: Why the run fails whatever its budgets say: the client ended by itself, no request succeeded. Its words before
    #: a colon name the kind.
    failure: str | None = None
