"""Budgets against what was observed: met, missed, not applicable or not measurable.

Not applicable is decided from the plan and the client's kind, before the run, and fails nothing. Not
measurable means that the figure should be there and is not: the run is then invalid.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from perfq.judge.applicable import SCENARIOS_FAILED, fits, rates_of, why_not
from perfq.measure.manifest import Manifest
from perfq.measure.phases import Timeline
from perfq.measure.result.common import BudgetResult, BudgetStatus
from perfq.measure.result.paths import lookup
from perfq.profile.budgets import Budget, Conditions, parse_budget

#: Samples that a quantile needs.
_NEEDED: Final = {"p99": 100, "p999": 1000}
_ANY: Final = 1


def always(manifest: Manifest) -> list[Budget]:
    """What holds without being asked for: no scenario fails, and each injected failure is shown to be handled."""
    budgets = [
        parse_budget(
            f"{SCENARIOS_FAILED}==0",
            Conditions(rationale="unconditional: what does not reach its screen does not work"),
        )
    ]
    for kind in dict.fromkeys(str(failure["kind"]) for failure in manifest.plan.profile["failures"]):
        budgets.append(
            parse_budget(
                f"replay.failures_injected.{kind}.shown==true",
                Conditions(rationale="unconditional: the profile is about this failure"),
            )
        )
    return budgets


def evaluate(budget: Budget, document: dict[str, Any], manifest: Manifest) -> BudgetResult:
    """Judges one budget on a result's plain JSON (latency, process, api, replay)."""
    reason = why_not(budget, manifest)
    if reason is not None:
        return _result(budget, "not_applicable", why=reason)
    found = lookup(document, budget.path)
    if isinstance(found, list):
        return _of_list(budget, found, manifest)
    n = _samples(budget, document)
    if budget.path == SCENARIOS_FAILED and not found and (n or 0) < len(manifest.options.scenarios):
        return _result(
            budget, "not_measurable", n=n, why=f"{n} of {len(manifest.options.scenarios)} scenarios were walked"
        )
    if found is None:
        status, why = _absent(budget, document, manifest, n)
        return _result(budget, status, n=n, why=why)
    return _result(budget, "met" if budget.met_by(found) else "missed", observed=found, n=n)


def _of_list(budget: Budget, items: Sequence[Any], manifest: Manifest) -> BudgetResult:
    """Holds when each item does. Items are told by burst; those at other rates are left out."""
    rates = rates_of(budget, Timeline.of(manifest.plan.profile))
    meant = [item for item, rate in zip(items, rates, strict=False) if fits(budget, rate)]
    if not meant:
        return _result(budget, "not_measurable", n=0, why="the run ended before a burst had")
    if None in meant:
        return _result(budget, "missed", n=len(meant), why="it never came back to its median before the burst")
    worst = max(meant) if budget.operator in ("<", "<=", "==") else min(meant)
    held = all(budget.met_by(item) for item in meant)
    return _result(budget, "met" if held else "missed", observed=worst, n=len(meant))


def _absent(budget: Budget, document: dict[str, Any], manifest: Manifest, n: int | None) -> tuple[BudgetStatus, str]:
    parts = budget.path.split(".")
    if budget.path.startswith("replay.failures_injected.") and parts[-1] == "shown":
        why = lookup(document, ".".join((*parts[:-1], "why"))) or "it cannot be told"
        client = manifest.client
        whole = client.has_probe and client.has_screen and client.has_cursor
        exercised = lookup(document, ".".join((*parts[:-1], "exercised")))
        return ("not_measurable" if whole or not exercised else "not_applicable"), str(why)
    needed = _NEEDED.get(parts[-1], _ANY) if parts[0] == "latency" else _ANY
    if parts[0] == "latency":
        return "not_measurable", f"{parts[-1]} needs {needed} samples, there are {n}" if n else "there is no sample"
    return "not_measurable", "it was not recorded"


def _samples(budget: Budget, document: dict[str, Any]) -> int | None:
    parent = budget.path.rpartition(".")[0]
    if budget.path == SCENARIOS_FAILED:
        return len(lookup(document, "replay.scenarios") or [])
    match budget.path.split("."):
        case ["latency", *_]:
            count = lookup(document, f"{parent}.count")
        case ["process", _, figure]:
            count = lookup(document, f"{parent}.{'rss_slope_samples' if 'slope' in figure else 'samples'}")
        case _:
            return None
    return count if isinstance(count, int) else 0


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
