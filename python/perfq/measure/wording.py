"""Figures as reports show them; the same words in every format."""

from __future__ import annotations

from perfq import units
from perfq.measure.result.common import BudgetResult

UNKNOWN = "–"


def duration(nanoseconds: int | None) -> str:
    """`12.3 ms`; a dash for what is not known."""
    return UNKNOWN if nanoseconds is None else units.show_duration(nanoseconds)


def size(count: float | None) -> str:
    """`148 MiB`."""
    return UNKNOWN if count is None else units.show_bytes(count)


def number(value: float | None) -> str:
    """`1,234`, `28.5`."""
    if value is None:
        return UNKNOWN
    return f"{value:,}" if isinstance(value, int) else f"{value:,.4g}"


def yes(value: bool | None) -> str:
    """`yes`, `no`, a dash."""
    return UNKNOWN if value is None else "yes" if value else "no"


def amount(value: object, unit: str | None) -> str:
    """A figure in its unit."""
    if value is None:
        return UNKNOWN
    if isinstance(value, bool):
        return "true" if value else "false"
    if not isinstance(value, int | float):
        return str(value)
    match unit:
        case "ns":
            return units.show_duration(value)
        case "s":
            return units.show_duration(value * units.SECOND)
        case "bytes":
            return units.show_bytes(value)
        case "bytes/min":
            return f"{units.show_bytes(value)}/min"
        case "/s":
            return f"{value:.4g}/s"
        case "percent":
            return f"{value:.3g} %"
        case "ratio":
            return f"{100 * value:.3g} %"
    return number(value)


def budget_name(budget: BudgetResult) -> str:
    """`latency.input.p95 (steady)`."""
    return budget.metric if budget.phase in (None, "all") else f"{budget.metric} ({budget.phase})"


def budget_limit(budget: BudgetResult) -> str:
    """`<= 250 ms`."""
    return f"{budget.op} {amount(budget.limit, budget.unit)}"


def budget_seen(budget: BudgetResult) -> str:
    """`120 ms`, `1 (search)`; why there is nothing, where there is nothing."""
    if budget.observed is None:
        return budget.why or "unknown"
    named = "" if budget.why is None else f" ({budget.why})"
    return amount(budget.observed, budget.unit) + named
