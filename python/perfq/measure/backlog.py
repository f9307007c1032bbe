"""The backlog: delivered − (rendered + coalesced + dropped), over time, and how bursts drain."""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections import Counter
from dataclasses import dataclass

from perfq.measure.phases import SECOND, Timeline
from perfq.measure.recording import Recording
from perfq.measure.rendering import pod_scopes, pod_watchers

#: The median before a burst is taken over at most this long.
BEFORE_NS = 10 * SECOND


@dataclass(frozen=True)
class Depths:
    """A step function: from instant t[i] on, the depth is depth[i]. Instants are monotonic ns.

    The two sides stamp by themselves (the server when its write has returned, the client when its
    frame was flushed), so that the difference may be below 0 for microseconds: it is 0 then.
    """

    t: array[int]
    depth: array[int]

    @classmethod
    def of(cls, recording: Recording) -> Depths:
        """The backlog of the client's Pod scopes."""
        steps = [(t, 1) for _, writes in pod_watchers(recording) for t in writes.t]
        for scope in pod_scopes(recording):
            steps += [(t, -rows) for t, rows in zip(scope.rendered_t, scope.rendered_rows, strict=True) if rows]
            steps += [(t, -n) for t, n in (*scope.coalesced, *scope.dropped) if n]
        steps.sort()
        t, depth, sum_ = array("q"), array("q"), 0
        for at, change in steps:
            sum_ += change
            t.append(at)
            depth.append(max(sum_, 0))
        return cls(t, depth)

    def at(self, t: int) -> int:
        """The depth at an instant."""
        index = bisect_right(self.t, t) - 1
        return self.depth[index] if index >= 0 else 0

    def max_between(self, begin: int, end: int) -> int:
        """The largest depth in [begin, end]."""
        first, last = bisect_right(self.t, begin), bisect_right(self.t, end)
        return max((self.at(begin), *self.depth[first:last]))

    def median(self, begin: int, end: int) -> int:
        """The time-weighted median over [begin, end); the depth at `begin` where that is empty."""
        if end <= begin:
            return self.at(begin)
        first, last = bisect_right(self.t, begin), bisect_right(self.t, end)
        weight: Counter[int] = Counter()
        at, depth = begin, self.at(begin)
        for index in range(first, last):
            weight[depth] += self.t[index] - at
            at, depth = self.t[index], self.depth[index]
        weight[depth] += end - at
        half, below = (end - begin) / 2, 0
        for depth in sorted(weight):
            below += weight[depth]
            if below >= half:
                return depth
        return depth

    def back_at(self, level: int, after: int) -> int | None:
        """The first instant, not before `after`, at which the depth is not above `level`."""
        if self.at(after) <= level:
            return after
        for index in range(bisect_right(self.t, after), len(self.t)):
            if self.depth[index] <= level:
                return self.t[index]
        return None


def drains(depths: Depths, timeline: Timeline, t0: int, until: int | None) -> list[int | None]:
    """For each burst that had ended by `until`: ns from its end until the backlog was back at its median
    before it; None where it never came back."""
    found: list[int | None] = []
    for index, burst in enumerate(timeline.bursts):
        end = t0 + burst.end
        if until is not None and end > until:
            break
        after_last = t0 + (timeline.bursts[index - 1].end if index else 0)
        begin = t0 + burst.begin
        level = depths.median(max(after_last, begin - BEFORE_NS), begin)
        back = depths.back_at(level, end)
        found.append(None if back is None else back - end)
    return found
