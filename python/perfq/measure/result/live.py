"""The block of a run on a real cluster; it stands beside `replay`."""

from __future__ import annotations

from typing import Any

from msgspec import field

from perfq.measure.document import Document


class LiveChurn(Document):
    """Requested and achieved, side by side."""

    requested_events: int
    requested_rate: float
    observed_events: int | None = None
    wall_ns: int | None = None
    achieved_rate: float | None = None
    mutation_throttles: int = 0


class Diagnostics(Document):
    """The cluster before and after."""

    node_conditions: list[str] = field(default_factory=list)
    warning_events: list[str] = field(default_factory=list)
    restarts: int | None = None
    readyz: str | None = None
    metrics: dict[str, Any] | None = None


class Live(Document):
    """What only a live run has."""

    contract: dict[str, Any]
    churn: LiveChurn
    diagnostics: Diagnostics = field(default_factory=Diagnostics)
