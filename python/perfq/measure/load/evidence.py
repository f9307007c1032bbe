"""What judging a load's validity looks at, beside the figures of the result."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from perfq.measure.harness import Drive, HarnessEvidence, gather_harness
from perfq.measure.load.manifest import LoadManifest
from perfq.measure.load.rates import Rate, engine_cpu_share, open_loops
from perfq.measure.load.recording import LoadRecording, SegmentRecord
from perfq.measure.phases import SECOND
from perfq.measure.result.load import Load

if TYPE_CHECKING:
    from perfq._core import RecorderStatus

#: A target whose last answer came no longer than this before the deadline answered to the end, unless its answers
#: had been much faster than that.
ANSWERING_NS: Final = 5 * SECOND


@dataclass(frozen=True)
class LoadEvidence(HarnessEvidence):
    """None means: not recorded."""

    began: bool
    #: What ended the load before its end, in the engine's words.
    failure: str | None
    #: planned − (ok + Σ errors + timed_out + cancelled + not_sent).
    without_a_fate: int | None
    #: How far the sums of the seconds and the totals of the engine are apart, over all counts.
    differing: int | None
    #: Share of the plan that was cancelled or not sent.
    unfinished_share: float | None
    #: The same without what the target itself kept waiting and went on answering (see `unfinished`).
    unexplained_share: float | None
    #: Share of the rate that was not reached.
    short: float | None
    #: Of the engine's busiest thread, in the open loops.
    engine_cpu_share: float | None


def gather(
    recording: LoadRecording, manifest: LoadManifest, load: Load, recorder: RecorderStatus | None
) -> LoadEvidence:
    """Reads it off the record; `recorder` is what became of the lines, where the run is still there."""
    segments = recording.measured
    ends = [one.last_t for one in segments]
    drive = Drive(recording.t0, max(ends, default=None), recording.killed)
    return LoadEvidence(
        **vars(gather_harness(recording, manifest, drive, recorder)),
        began=recording.t0 is not None,
        failure=recording.marks["failed"].why if "failed" in recording.marks else None,
        without_a_fate=_without_a_fate(load),
        differing=_differing(segments),
        unfinished_share=_share(load.cancelled, load.not_sent, load.planned),
        unexplained_share=_unexplained(load, segments, recording.merged("service").max or 0),
        short=Rate(load.requested_rate, load.achieved_rate).short,
        engine_cpu_share=engine_cpu_share(open_loops(segments)),
    )


def _without_a_fate(load: Load) -> int | None:
    if load.planned is None or load.cancelled is None or load.not_sent is None:
        return None
    return load.planned - load.ok - sum(load.errors.values()) - load.timed_out - load.cancelled - load.not_sent


def _differing(segments: list[SegmentRecord]) -> int | None:
    ended = [(one, one.end) for one in segments if one.end is not None]
    if len(ended) < len(segments) or not segments:
        return None
    difference = 0
    for one, end in ended:
        totals = {"sent": end.sent, "ok": end.ok, "timed_out": end.timed_out}
        totals |= {"cancelled": end.cancelled, "not_sent": end.not_sent}
        difference += sum(abs(total - one.sums[name]) for name, total in totals.items())
        difference += sum(abs(end.errors.get(key, 0) - one.errors[key]) for key in {*end.errors, *one.errors})
    return difference


def _share(cancelled: int | None, not_sent: int | None, planned: int | None) -> float | None:
    if cancelled is None or not_sent is None or planned is None:
        return None
    return (cancelled + not_sent) / planned if planned else 0.0


def _unexplained(load: Load, segments: list[SegmentRecord], slowest_ns: int) -> float | None:
    """What a target did not take since it was too slow is its shortfall, which the budget on the rate judges.

    That explains a request only where the target held the load back and went on answering to the deadline. A target
    that fell silent shows nothing of what it can do.
    """
    whole = _share(load.cancelled, load.not_sent, load.planned)
    if whole is None or load.limited_by != "target":
        return whole
    silent = any(_silent_ns(one) > min(ANSWERING_NS, slowest_ns + _unseen_ns(one)) for one in segments)
    return whole if silent else 0.0


def _unseen_ns(segment: SegmentRecord) -> int:
    """What may be lacking of answers beyond the time of the slowest one: seconds are what the record counts in. Half
    of the grace where that is short, since a target that answered nothing in all of it was silent."""
    if segment.planned_ns is None:
        return SECOND
    return min(SECOND, max(0, segment.last_t - segment.start.t0 - segment.planned_ns) // 2)


def _silent_ns(segment: SegmentRecord) -> int:
    """From the end of the last second with an answer to the end of the drive."""
    last = max((one.end_ns for one in segment.seconds if one.answered), default=0)
    return segment.last_t - segment.start.t0 - last
