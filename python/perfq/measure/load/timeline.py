"""The load over time, for charts: what was sent, what failed, how long it took, each second."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from perfq.measure.load.recording import LoadRecording, Second, SegmentRecord
from perfq.measure.result.common import SeriesPoint
from perfq.measure.thinned import thinned

#: What is drawn. `latency_…` is response, in a closed loop service.
_CHARTED: Final[dict[str, Callable[[Second], int | None]]] = {
    "sent": lambda one: one.sent,
    "errors": lambda one: one.errors,
    "in_flight": lambda one: one.in_flight_max,
    "latency_p50": lambda one: one.p50,
    "latency_p99": lambda one: one.p99,
    "latency_max": lambda one: one.max,
    "lag_max": lambda one: one.lag_max,
    "slot_wait_max": lambda one: one.slot_wait_max,
}


def timeline(recording: LoadRecording, segments: Sequence[SegmentRecord]) -> dict[str, list[SeriesPoint]]:
    """A series of points for each of these that the run has; times are from the first T0 on."""
    t0 = recording.t0
    if t0 is None:
        return {}
    points: dict[str, list[tuple[int, int]]] = {name: [] for name in _CHARTED}
    for segment in segments:
        for one in segment.seconds:
            at = segment.start.t0 - t0 + one.begin_ns
            for name, value_of in _CHARTED.items():
                value = value_of(one)
                if value is not None:
                    points[name].append((at, value))
    return {name: thinned(found) for name, found in points.items() if any(value for _, value in found)}
