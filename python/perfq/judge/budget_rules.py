"""What judging a budget asks of the kind of run: can it have the figure, and what does its absence mean?"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, Final

from perfq.measure.result.common import BudgetStatus
from perfq.measure.result.paths import lookup
from perfq.profile.budgets import Budget

#: Samples that a quantile needs.
NEEDED: Final = {"p99": 100, "p999": 1000}


class BudgetRules(ABC):
    """The rules of one kind of run."""

    @abstractmethod
    def always(self) -> list[Budget]:
        """What holds without being asked for, where there is something to hold."""

    @abstractmethod
    def why_not(self, budget: Budget) -> str | None:
        """Why the budget does not apply, told from what was known before the run; None where it does."""

    def observed(self, budget: Budget, document: dict[str, Any]) -> Any:
        """What stands at the budget's path; None where there is nothing."""
        return lookup(document, budget.path)

    def meant(self, budget: Budget, items: Sequence[Any]) -> list[Any]:
        """The items of a metric that is a list which the budget is about."""
        return list(items)

    def unfinished(self, budget: Budget, found: Any, n: int | None) -> str | None:
        """Why a figure that is there proves nothing yet; None where it does."""
        return None

    def absent(self, budget: Budget, document: dict[str, Any], n: int | None) -> tuple[BudgetStatus, str]:
        """What it means that the figure is not there: a status and why."""
        figure = budget.path.rpartition(".")[2]
        if n is None:
            return "not_measurable", "it was not recorded"
        if n == 0:
            return "not_measurable", "there is no sample"
        return "not_measurable", f"{figure} needs {NEEDED.get(figure, 1)} samples, there are {n}"

    def behind(self, budget: Budget, document: dict[str, Any]) -> str | None:
        """What of the run missed the budget, by name; None where the figure says it all."""
        return None

    def samples(self, budget: Budget, document: dict[str, Any]) -> int | None:
        """How many samples stand behind the figure; None where it is no matter of samples."""
        parent = budget.path.rpartition(".")[0]
        match budget.path.split("."):
            case ["latency", *_]:
                count = lookup(document, f"{parent}.count")
            case ["process", _, figure]:
                count = lookup(document, f"{parent}.{'rss_slope_samples' if 'slope' in figure else 'samples'}")
            case _:
                return None
        return count if isinstance(count, int) else 0
