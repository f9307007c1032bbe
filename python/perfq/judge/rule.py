"""A rule of validity with an upper limit."""

from __future__ import annotations

from dataclasses import dataclass

from perfq.measure.result.common import Check, CheckStatus


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
