"""Requested and achieved, and whose doing the difference was (docs/concepts/validity.md, "Whose fault is it?")."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from perfq.measure.harness import BUSY, LATE_NS
from perfq.measure.load.recording import SegmentRecord, merged
from perfq.measure.phases import SECOND
from perfq.measure.result.load import Cause

#: From here on the rate counts as reached.
REACHED: Final = 0.99
#: The lines of a record come about a second apart; so near to an instant they are at it.
_BRIEF_NS: Final = 200_000_000


@dataclass(frozen=True)
class Rate:
    """Requests/s over the planned time; None where there is none: a closed loop, or a run that was cut short."""

    requested: float | None
    achieved: float | None

    @property
    def short(self) -> float | None:
        """Which share of the rate was not reached; None where it is not known."""
        if self.requested is None or self.achieved is None or self.requested <= 0:
            return None
        return max(0.0, 1 - self.achieved / self.requested)


def rate_of(segment: SegmentRecord) -> Rate:
    """One segment's: of an open loop, the share of the plan that was sent by the planned end (and 10 ms), times what
    was asked for; of a closed loop, what was sent over the time that it took."""
    start, end = segment.start, segment.end
    if start.closed:
        sent = segment.sums["sent"] if end is None else end.sent
        return Rate(None, sent * SECOND / segment.wall_ns if segment.wall_ns else None)
    planned = start.planned if end is None else end.planned
    requested = start.requested_rate
    if requested is None and planned is not None and segment.planned_ns:
        requested = planned * SECOND / segment.planned_ns
    if requested is None or end is None or end.stopped is not None or not end.planned:
        return Rate(requested, None)
    return Rate(requested, requested * end.sent_by_end / end.planned)


def overall(segments: Iterable[SegmentRecord]) -> Rate:
    """Of all open loops: requests over the sum of their planned times. Where there are closed loops alone, what
    came of them."""
    each = list(segments)
    judged = open_loops(each) or each
    rates = [rate_of(one) for one in judged]
    if len(judged) == 1:
        return rates[0]
    if judged and judged[0].start.closed:
        sent = sum(one.sums["sent"] if one.end is None else one.end.sent for one in judged)
        wall = sum(one.wall_ns or 0 for one in judged)
        return Rate(None, sent * SECOND / wall if wall > 0 else None)
    return Rate(_weighted(judged, [one.requested for one in rates]), _weighted(judged, [one.achieved for one in rates]))


def open_loops(segments: Iterable[SegmentRecord]) -> list[SegmentRecord]:
    """Those in which requests are due by a plan: a closed loop keeps its workers busy, and waits for them, by its
    nature."""
    return [one for one in segments if not one.start.closed]


def _weighted(segments: list[SegmentRecord], rates: list[float | None]) -> float | None:
    times = [one.planned_ns or 0 for one in segments]
    if not sum(times):
        return None
    products = [None if rate is None else rate * time for rate, time in zip(rates, times, strict=True)]
    known = [one for one in products if one is not None]
    return sum(known) / sum(times) if len(known) == len(products) else None


def answered_rate(segments: Sequence[SegmentRecord]) -> float | None:
    """Answers/s over the second half of the planned time: below the rate where the target falls behind.

    Of one open loop of at least three seconds that ran to its end; None for all else. The first second, in which
    answers are still on their way, is left out, and so is the last, whose end is told with what drains.
    """
    if len(segments) != 1 or segments[0].start.closed or segments[0].end is None or segments[0].end.stopped is not None:
        return None
    planned = segments[0].planned_ns or 0
    # At least one whole second, also of three: the middle one.
    middle = max(min(planned // 2, planned - 2 * SECOND), SECOND)
    begin, end = middle - _BRIEF_NS, planned - SECOND + _BRIEF_NS
    half = [one for one in segments[0].seconds if one.begin_ns >= begin and one.end_ns <= end]
    if not half or half[-1].end_ns - half[0].begin_ns < SECOND - _BRIEF_NS:
        return None
    return sum(one.answered for one in half) * SECOND / (half[-1].end_ns - half[0].begin_ns)


def engine_cpu_share(segments: Iterable[SegmentRecord]) -> float | None:
    """Of the busiest thread's time, on average over the planned time; None where it was not recorded."""
    busy = [
        (one.cpu_share_max, one.end_ns - one.begin_ns)
        for segment in segments
        for one in segment.planned_seconds
        if one.cpu_share_max is not None
    ]
    whole = sum(length for _, length in busy)
    return sum(share * length for share, length in busy) / whole if whole else None


def cause_of(segments: Iterable[SegmentRecord], rate: Rate) -> Cause | None:
    """What held the open loops back, where less than 99 % of the rate was reached.

    Lag that is too long, or a thread without time, is the generator's doing whatever else waited: a generator that
    is late at its work holds its slots for longer, too. Where neither is so, lag explains no shortfall of more than
    1 %: it is what came of most of the requests that are lacking, else what most time was waited for.
    """
    short = rate.short
    if short is None or short <= 1 - REACHED:
        return None
    opened = open_loops(segments)
    late = merged(opened, "lag").quantile(99, 100)
    share = engine_cpu_share(opened)
    if (late is not None and late > LATE_NS) or (share is not None and share > BUSY):
        return "lag"
    ends = [one.end for one in opened if one.end is not None]
    # What ended without having been sent found no connection.
    if 2 * sum(one.planned - one.not_sent - one.sent for one in ends) > sum(
        one.planned - one.sent_by_end for one in ends
    ):
        return "unreachable"
    if any(one.dropped for one in ends):
        return "dropped"
    # A target that hangs answers nothing any more: what waited for it was never sent, and is in no latency.
    waits: list[tuple[int, Cause]] = [
        (merged(opened, "slot_wait").sum + sum(one.unsent_wait.slot_ns for one in ends), "slot_wait"),
        (merged(opened, "order_wait").sum + sum(one.unsent_wait.order_ns for one in ends), "order_wait"),
    ]
    longest, cause = max(waits, key=lambda one: one[0])
    return cause if longest else None


def limited_by(cause: Cause | None) -> Literal["target", "generator"] | None:
    """Whose doing that is."""
    return None if cause is None else "generator" if cause == "lag" else "target"
