"""The search for the highest value that holds, as a pure state machine: which one is to be tried next?

Values (a rate, a number of sessions) are tried between `lo` and `hi`, never outside of them: lo, hi, then the geometric
middle of the highest that held and the lowest that did not, until they are within the tolerance of each other. The
highest that held is then confirmed; where a confirmation fails it did not hold, and the search goes on below it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Final, Literal

Why = Literal["lo", "hi", "bisect", "confirm"]
#: A search that is not done by then would not end: the target does not hold its word twice.
MOST_STEPS: Final = 60


@dataclass(frozen=True)
class Try:
    """A value to be tried, and why."""

    value: float
    why: Why


@dataclass
class Bisection:
    """Where a search stands. `tolerance` is a ratio: 0.02 ends with values that are 2 % apart, or next to each other.

    `whole`: only whole numbers are tried; `lo` and `hi` are such.
    """

    lo: float
    hi: float
    tolerance: float = 0.02
    confirmations: int = 3
    whole: bool = False
    _held: list[float] = field(default_factory=list)
    _failed: list[float] = field(default_factory=list)
    _confirmed: dict[float, int] = field(default_factory=dict)
    _steps: int = 0

    def next(self) -> Try | None:
        """The next value to be tried; None when the search is over."""
        if self._steps >= MOST_STEPS:
            return None
        if not self._held:
            # Below lo nothing is asked for: what fails there has no answer.
            return None if self._failed and min(self._failed) <= self.lo else Try(self.lo, "lo")
        best, ceiling = max(self._held), min(self._failed, default=None)
        if ceiling is None and best < self.hi:
            return Try(self.hi, "hi")
        if ceiling is not None and not self._near(best, ceiling):
            return Try(min(self._middle(best, ceiling), self.hi), "bisect")
        if self._confirmed.get(best, 0) < self.confirmations:
            return Try(best, "confirm")
        return None

    def note(self, tried: Try, *, held: bool) -> None:
        """What came of it."""
        self._steps += 1
        if held:
            self._held.append(tried.value)
            if tried.why == "confirm":
                self._confirmed[tried.value] = self._confirmed.get(tried.value, 0) + 1
        else:
            self._failed.append(tried.value)
            # A value that fails once does not hold, whatever it did before; nor does any above it.
            self._held = [value for value in self._held if value < tried.value]

    @property
    def found(self) -> float | None:
        """The highest value that held and was confirmed; None while there is none."""
        best = max(self._held, default=None)
        return best if best is not None and self._confirmed.get(best, 0) >= self.confirmations else None

    @property
    def at_least(self) -> bool:
        """Whether hi itself held: the target may hold more."""
        return self.found is not None and self.found >= self.hi

    def _near(self, best: float, ceiling: float) -> bool:
        return ceiling / best <= 1 + self.tolerance or (self.whole and ceiling - best <= 1)

    def _middle(self, best: float, ceiling: float) -> float:
        middle = math.sqrt(best * ceiling)
        return min(max(math.floor(middle), best + 1), ceiling - 1) if self.whole else middle
