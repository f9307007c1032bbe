"""Budgets of a request load: what this input can have, and the rate, which is always judged."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from perfq.judge.budget_rules import BudgetRules
from perfq.measure.load.manifest import LoadManifest
from perfq.measure.load.rates import REACHED
from perfq.measure.result.common import BudgetStatus
from perfq.measure.result.load import Load
from perfq.measure.result.paths import lookup
from perfq.profile.budgets import Budget, Conditions, parse_budget

RATE: Final = "load.achieved_rate"
_OF_A_LOAD: Final = ("latency.", "process.", "load.")
#: Latencies that a load has; the others are those of a client under test.
_LATENCIES: Final = ("response", "service", "ttfb", "slot_wait", "order_wait", "lag")
_SLO_WORDS: Final = {
    "mutating": "changes an object",
    "get": "reads one object",
    "namespace_read": "lists a namespace",
    "cluster_read": "lists the cluster",
}


@dataclass(frozen=True)
class LoadBudgets(BudgetRules):
    """The rules of a load."""

    manifest: LoadManifest
    load: Load

    def always(self) -> list[Budget]:
        """An open loop reaches its rate."""
        requested = self.load.requested_rate
        if requested is None or self.load.closed:
            return []
        why = f"unconditional: at least {REACHED:.0%} of the {requested:.6g}/s that were asked for"
        return [parse_budget(f"{RATE}>={requested * REACHED:.6f}", Conditions(rationale=why))]

    def why_not(self, budget: Budget) -> str | None:
        """Why the budget does not apply; None where it does."""
        metric = budget.metric
        if not metric.startswith(_OF_A_LOAD):
            return f"a {self.manifest.kind} has no {metric.partition('.')[0]} figures"
        if metric.startswith("process.client."):
            return "a load has no client under test"
        if budget.needs or budget.phase in ("steady", "burst"):
            return "it is meant for a client under test"
        parts = metric.split(".")
        if parts[0] == "latency" and parts[1] not in _LATENCIES:
            return f"a load has no {parts[1]}"
        return self._not_by_input(budget, parts)

    def _not_by_input(self, budget: Budget, parts: list[str]) -> str | None:
        of_a_plan = parts[:2] in (["latency", "response"], ["load", "requested_rate"])
        if self.load.closed and of_a_plan:
            return "in a closed loop no request is due at an instant of its own"
        if parts[:2] == ["load", "slo"] and parts[2] not in self.load.slo:
            return f"no request {_SLO_WORDS.get(parts[2], 'is of this class')}"
        if parts[:2] == ["latency", "order_wait"] and self.manifest.options.ordering == "none":
            return "requests are kept in no order (--ordering none)"
        if budget.min_duration is not None:
            lasts = sum(one.planned_ns or 0 for one in self.load.segments) / 1e9
            if lasts < budget.min_duration:
                return f"the load lasts {lasts:g} s, the budget is meant for {budget.min_duration} s and more"
        return None

    def observed(self, budget: Budget, document: dict[str, Any]) -> Any:
        """An error that never came has occurred 0 times."""
        found = super().observed(budget, document)
        of, errors, _ = budget.path.rpartition(".errors.")
        if found is None and errors and lookup(document, of) is not None:
            return 0
        return found

    def absent(self, budget: Budget, document: dict[str, Any], n: int | None) -> tuple[BudgetStatus, str]:
        """A wait that nobody had is no figure that is missing; the rate of a run that was cut short is."""
        if budget.path == RATE:
            return "not_measurable", "the run was cut short"
        if budget.path.startswith("latency.order_wait.") and not n:
            return "not_applicable", "no request waited for a former one on the same object"
        return super().absent(budget, document, n)

    def samples(self, budget: Budget, document: dict[str, Any]) -> int | None:
        """Latencies of series and classes have a count beside them."""
        parent = budget.path.rpartition(".")[0]
        if budget.path == RATE:
            return self.load.sent
        if budget.path == "load.error_share":
            return self.load.ok + sum(self.load.errors.values()) + self.load.timed_out
        if budget.path.startswith(("load.series.", "load.slo.")) and not budget.path.endswith(".count"):
            count = lookup(document, f"{parent}.count")
            return count if isinstance(count, int) else None
        return super().samples(budget, document)
