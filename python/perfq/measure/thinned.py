"""Points for charts: down-sampled so that a result stays small, with the extremes of each slice kept."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from perfq import _core
from perfq.measure.result.common import SeriesPoint

#: At most twice as many points a series.
SLICES: Final = 100


def thinned(points: Sequence[tuple[int, int]]) -> list[SeriesPoint]:
    """Points (ns after T0, value), sorted by time, thinned."""
    return [SeriesPoint(t_ns=t, value=value) for t, value in _core.downsample(points, SLICES)]
