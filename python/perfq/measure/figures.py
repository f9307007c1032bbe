"""Samples of one latency and their published figures: exact nearest rank, in all and for each phase."""

from __future__ import annotations

from array import array
from dataclasses import dataclass, field

from perfq import _core
from perfq.measure.phases import Phase, Timeline
from perfq.measure.result.common import Figures, Latency


def figures(values: array[int]) -> Figures:
    """Exact figures of nanoseconds."""
    return Figures(**_core.quantiles(values))


@dataclass
class LatencySamples:
    """Collects samples with the instant that decides their phase."""

    timeline: Timeline
    t0: int
    values: array[int] = field(default_factory=lambda: array("q"))
    instants: array[int] = field(default_factory=lambda: array("q"))
    censored: int = 0

    def add(self, at: int, value: int) -> None:
        """A sample of `value` ns that belongs to the phase at `at` (monotonic ns)."""
        self.values.append(value)
        self.instants.append(at - self.t0)

    def latency(self, definition: str) -> Latency | None:
        """The figures; None where there is not one sample. A phase without samples is left out."""
        if not self.values:
            return None
        by_phase: dict[Phase, array[int]] = {}
        for at, value in zip(self.instants, self.values, strict=True):
            by_phase.setdefault(self.timeline.phase(at), array("q")).append(value)
        return Latency(
            **figures(self.values).fields(),
            method="exact",
            definition=definition,
            censored=self.censored,
            phases={phase: figures(by_phase[phase]) for phase in sorted(by_phase, reverse=True)},
        )

    def points(self) -> list[tuple[int, int]]:
        """(ns after T0, value) in order of time."""
        return sorted(zip(self.instants, self.values, strict=True))
