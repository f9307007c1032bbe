"""Series for charts: down-sampled so that a result stays small, with the extremes of each slice kept."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from perfq import _core
from perfq.measure.backlog import Depths
from perfq.measure.figures import LatencySamples
from perfq.measure.recording import Recording
from perfq.measure.result.common import LatencyName
from perfq.measure.result.replay import SeriesPoint

#: At most twice as many points a series.
SLICES: Final = 100
CHARTED: Final[tuple[LatencyName, ...]] = ("event_to_written", "event_to_render", "event_to_screen", "input")


def thinned(points: Sequence[tuple[int, int]]) -> list[SeriesPoint]:
    """Points (ns after T0, value), sorted by time, thinned."""
    return [SeriesPoint(t_ns=t, value=value) for t, value in _core.downsample(points, SLICES)]


def replay_series(
    recording: Recording, t0: int, latencies: dict[LatencyName, LatencySamples], depths: Depths | None
) -> dict[str, list[SeriesPoint]]:
    """The series of a replay that have points: latencies, backlog, the client's memory."""
    series: dict[str, list[SeriesPoint]] = {
        name: thinned(latencies[name].points()) for name in CHARTED if latencies[name].values
    }
    if depths is not None and depths.t:
        series["backlog"] = thinned([(t - t0, depth) for t, depth in zip(depths.t, depths.depth, strict=True)])
    memory = [(one.t - t0, one.rss) for one in recording.processes.get("client", []) if one.rss is not None]
    if memory:
        series["client_rss_bytes"] = thinned(memory)
    return series
