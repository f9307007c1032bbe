"""Budgets against what was observed: met, missed, not applicable or not measurable.

Not applicable is decided from what was known before the run (the plan, the client's kind), and fails
nothing. Not measurable means that the figure should be there and is not: the run is then invalid.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from perfq.judge.budget_rules import BudgetRules
from perfq.measure.result.common import BudgetResult, BudgetStatus
from perfq.profile.budgets import Budget


def evaluate(budget: Budget, document: dict[str, Any], rules: BudgetRules) -> BudgetResult:
    """Judges one budget on a result's plain JSON (latency, process, api, and the blocks of the kind)."""
    reason = rules.why_not(budget)
    if reason is not None:
        return _result(budget, "not_applicable", why=reason)
    found = rules.observed(budget, document)
    if isinstance(found, list):
        return _of_list(budget, rules.meant(budget, found))
    n = rules.samples(budget, document)
    unfinished = rules.unfinished(budget, found, n)
    if unfinished is not None:
        return _result(budget, "not_measurable", n=n, why=unfinished)
    if found is None:
        status, why = rules.absent(budget, document, n)
        return _result(budget, status, n=n, why=why)
    if budget.met_by(found):
        return _result(budget, "met", observed=found, n=n)
    return _result(budget, "missed", observed=found, n=n, why=rules.behind(budget, document))


def _of_list(budget: Budget, meant: Sequence[Any]) -> BudgetResult:
    """Holds when each item does."""
    if not meant:
        return _result(budget, "not_measurable", n=0, why="the run ended before a burst had")
    if None in meant:
        return _result(budget, "missed", n=len(meant), why="it never came back to its median before the burst")
    worst = max(meant) if budget.operator in ("<", "<=", "==") else min(meant)
    held = all(budget.met_by(item) for item in meant)
    return _result(budget, "met" if held else "missed", observed=worst, n=len(meant))


def _result(
    budget: Budget,
    status: BudgetStatus,
    *,
    observed: float | bool | None = None,
    n: int | None = None,
    why: str | None = None,
) -> BudgetResult:
    return BudgetResult(
        metric=budget.metric,
        phase=budget.phase,
        op=budget.operator,
        limit=budget.limit,
        unit=budget.unit,
        observed=observed,
        margin=margin(budget, observed),
        n=n,
        status=status,
        why=why,
        was=budget.was,
        rationale=budget.rationale,
    )


def margin(budget: Budget, observed: float | bool | None) -> float | None:
    """How far inside the limit, in the budget's unit; negative outside. None for what is true or false."""
    if observed is None or isinstance(observed, bool) or isinstance(budget.limit, bool):
        return None
    if budget.operator in ("<", "<="):
        return budget.limit - observed
    if budget.operator in (">", ">="):
        return observed - budget.limit
    return -abs(observed - budget.limit)
