"""The series of a replay, for charts."""

from __future__ import annotations

from typing import Final

from perfq.measure.backlog import Depths
from perfq.measure.figures import LatencySamples
from perfq.measure.recording import Recording
from perfq.measure.result.common import LatencyName, SeriesPoint
from perfq.measure.thinned import thinned

CHARTED: Final[tuple[LatencyName, ...]] = ("event_to_written", "event_to_render", "event_to_screen", "input")


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
