"""Figures over many values: median, p99 and maximum; mean and maximum."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Sequence

from perfq.measure.figures import figures
from perfq.measure.result.trajectory import Spread, Tail


def tail(values: Iterable[int]) -> Tail:
    """By exact nearest rank; all null where there is nothing."""
    known = array("q", values)
    if not known:
        return Tail()
    found = figures(known)
    return Tail(p50=found.p50, p99=found.p99, max=found.max)


def spread(values: Sequence[int]) -> Spread:
    """Mean (rounded down) and maximum; null where there is nothing."""
    return Spread(mean=sum(values) // len(values), max=max(values)) if values else Spread()
