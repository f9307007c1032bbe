"""A rule of validity with an upper limit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from perfq.measure.result.common import Check, CheckStatus


class Figured(Protocol):
    """A latency's figures."""

    @property
    def p99(self) -> int | None:
        """None where there are fewer samples than it needs."""

    @property
    def max(self) -> int | None:
        """The longest."""


@dataclass(frozen=True)
class AtMost:
    """The observed figure must not exceed the limit; the advice says what helps."""

    name: str
    limit: float
    unit: str
    advice: str

    def check(self, observed: float | None, *, absent: CheckStatus = "unknown", advice: str | None = None) -> Check:
        """Judges a figure; `absent` is the status where there is none, `advice` a better one for this case."""
        status: CheckStatus = absent if observed is None else "passed" if observed <= self.limit else "failed"
        return Check(
            name=self.name,
            observed=observed,
            limit=self.limit,
            unit=self.unit,
            status=status,
            advice=advice or self.advice if status == "failed" else advice if status == "unknown" else None,
        )


@dataclass(frozen=True)
class TailAtMost:
    """p99 must not exceed the limit; the maximum, where there are too few samples for p99."""

    name: str
    limit: float
    unit: str
    advice: str

    def check(self, figures: Figured | None, *, absent: CheckStatus = "unknown") -> Check:
        """Judges a latency; `absent` is the status where there is none."""
        figure = "max" if figures is None or figures.p99 is None else "p99"
        rule = AtMost(f"{self.name} {figure}", self.limit, self.unit, self.advice)
        return rule.check(None if figures is None else getattr(figures, figure), absent=absent)
