"""How many sessions were where, over time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Final

from perfq.measure.result.trajectory import TimelinePoint
from perfq.measure.trajectory.recording import TrajectoryRecording
from perfq.measure.trajectory.samples import State

#: A run is told in at most so many points.
_POINTS: Final = 120
#: What a session is counted as in each of its states.
_WHERE: Final = {
    "queued": "queued", "admitted": "running", "running": "running", "stopping": "running", "done": "done",
}  # fmt: skip


def timeline(recording: TrajectoryRecording) -> list[TimelinePoint]:
    """The last change of each of equal stretches of time; empty where nothing arrived."""
    states, t0 = recording.states, recording.t0
    if not states or t0 is None:
        return []
    span = max(states[-1].t - t0, 1)
    points: dict[int, TimelinePoint] = {}
    for state, counted in _counted(states):
        at = min(max(state.t - t0, 0) * _POINTS // span, _POINTS - 1)
        points[at] = TimelinePoint(
            t_ns=max(state.t - t0, 0),
            arrived=counted.total(),
            queued=counted["queued"],
            running=counted["running"],
            done=counted["done"],
        )
    return [points[at] for at in sorted(points)]


def peak_concurrency(states: Sequence[State]) -> int | None:
    """The most that were admitted and had not ended; None where nothing arrived."""
    return max((counted["running"] for _, counted in _counted(states)), default=None)


def _counted(states: Sequence[State]) -> Iterator[tuple[State, Counter[str]]]:
    """After each change: sessions by where they are. The counter is the same one, changed on the way."""
    where: dict[int, str] = {}
    counted: Counter[str] = Counter()
    for state in states:
        now = _WHERE.get(state.state)
        if now is None:
            continue
        before = where.get(state.n)
        if before is not None:
            counted[before] -= 1
        where[state.n] = now
        counted[now] += 1
        yield state, counted
