"""The `load` block of a result, put together from the record."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, Literal, cast

from perfq._core import Histogram
from perfq.measure.load.manifest import LoadManifest, Protocol, SegmentFacts
from perfq.measure.load.rates import answered_rate, cause_of, engine_cpu_share, limited_by, overall, rate_of
from perfq.measure.load.recording import WATCH_COUNTS, LoadRecording, SegmentRecord, SeriesRecord
from perfq.measure.load.server import server_figures
from perfq.measure.load.slices import Slices
from perfq.measure.load.slo import slo_figures
from perfq.measure.load.timeline import timeline
from perfq.measure.phases import SECOND
from perfq.measure.result.common import Figures
from perfq.measure.result.load import Connections, ErrorSample, Load, Segment, Series, SliceFigures, Watches

#: Series that are told by time, too: those with the most requests.
_SLICED: Final = 20
_WATCH_TIMES: Final = ("headers", "first_event", "initial_bookmark")


def figures(histogram: Histogram) -> Figures | None:
    """The published figures; None where there is not one sample."""
    return Figures(**histogram.figures()) if histogram.count else None


def load_block(manifest: LoadManifest, recording: LoadRecording) -> Load:
    """Everything that a load alone has."""
    segments, series = recording.measured, recording.series
    rate = overall(segments)
    cause = cause_of(segments, rate)
    closed = bool(segments) and all(one.start.closed for one in segments)
    basis: Literal["response", "service"] = "service" if any(one.start.closed for one in segments) else "response"
    known = sum(one.sums["cpu_ns"] for one in segments)
    return Load(
        **_counts(manifest, segments),
        closed=closed,
        requested_rate=rate.requested,
        achieved_rate=rate.achieved,
        limited_by=limited_by(cause),
        cause=cause,
        answered_rate=answered_rate(segments),
        overload=manifest.options.overload,
        connections=_connections(segments),
        watches=_watches(recording, segments),
        engine_cpu_seconds=known / SECOND if known else None,
        engine_cpu_share=engine_cpu_share(segments),
        in_flight_max=max((one.in_flight_max for each in segments for one in each.seconds), default=None),
        resends=_total([one.end for one in segments], "resends"),
        envelopes=_total([one.end for one in segments], "envelopes"),
        segments=[_segment(one) for one in segments],
        slo=slo_figures(series, basis),
        series=_series(recording, series),
        error_samples=[
            ErrorSample(
                t_ns=one.t - (recording.t0 or one.t),
                segment=one.segment,
                key=one.key,
                series=one.series,
                status=one.status,
                text=one.text,
            )
            for one in recording.error_samples
        ],
        priority_levels=_priority_levels(recording, segments),
        timeline=timeline(recording, segments),
        server=server_figures(recording.server)[0],
    )


def _counts(manifest: LoadManifest, segments: Sequence[SegmentRecord]) -> dict[str, Any]:
    """The counts of all segments. What a run that was cut short cannot know of a whole is None."""
    each = [_segment_counts(one) for one in segments]
    planned = [one for one in manifest.segments if not one.warm_up]
    each += [_never_began(one) for one in planned[len(segments) :]]
    errors: Counter[str] = Counter()
    for one in each:
        errors.update(one["errors"])
    sums = {name: _sum(one[name] for one in each) for name in ("planned", "cancelled", "not_sent")}
    plain = {name: sum(one[name] for one in each) for name in ("sent", "ok", "timed_out", "late", "retries", "bytes")}
    return {**sums, **plain, "errors": dict(errors), "error_share": _share(plain, errors)}


def _priority_levels(recording: LoadRecording, segments: Sequence[SegmentRecord]) -> dict[str, int]:
    """By name where the target told it, else by UID."""
    names = {uid: name for one in recording.server.values() for uid, name in one.levels.items()}
    counts: Counter[str] = Counter()
    for segment in segments:
        for uid, count in segment.priority_levels.items():
            counts[names.get(uid, uid)] += count
    return dict(sorted(counts.items()))


def _sum(values: Iterable[int | None]) -> int | None:
    known = list(values)
    return None if None in known else sum(cast("list[int]", known))


def _share(sums: dict[str, int], errors: Counter[str]) -> float | None:
    """Of the requests that came to an end: where no connection is made, none is sent, and each is an error."""
    failed = errors.total() + sums["timed_out"]
    return failed / (failed + sums["ok"]) if failed + sums["ok"] else None


def _segment_counts(segment: SegmentRecord) -> dict[str, Any]:
    """The engine's own totals; of a segment that did not end, what its seconds came to."""
    end, sums = segment.end, segment.sums
    errors = segment.errors if end is None else Counter(end.errors)
    counts: dict[str, Any] = {
        name: sums[name] if end is None else getattr(end, name)
        for name in ("sent", "ok", "timed_out", "late", "retries")
    }
    return {
        **counts,
        "planned": segment.start.planned if end is None else end.planned,
        "cancelled": None if end is None else end.cancelled,
        "not_sent": None if end is None else end.not_sent,
        "bytes": sums["bytes"],
        "errors": dict(sorted(errors.items())),
        "error_share": _share(counts, errors),
    }


def _never_began(facts: SegmentFacts) -> dict[str, Any]:
    """A segment that the end of the run cut off: none of it was sent."""
    planned = facts.planned
    nothing = dict.fromkeys(("sent", "ok", "timed_out", "late", "retries", "bytes", "cancelled"), 0)
    return {**nothing, "planned": planned, "not_sent": planned, "errors": {}}


def _segment(segment: SegmentRecord) -> Segment:
    start, end, rate = segment.start, segment.end, rate_of(segment)
    return Segment(
        **_segment_counts(segment),
        closed=start.closed,
        requested_rate=rate.requested,
        achieved_rate=rate.achieved,
        runners=start.runners,
        connections=start.connections,
        in_flight=start.in_flight,
        protocol=cast("Protocol", start.protocol),
        planned_ns=segment.planned_ns,
        wall_ns=segment.wall_ns,
        drain_ns=None if end is None else end.drain_ns,
        stopped=None if end is None else end.stopped,
    )


def _connections(segments: Sequence[SegmentRecord]) -> Connections:
    handshakes = Histogram()
    for one in segments:
        handshakes.merge(one.handshake)
    limits = [one.start.stream_limit for one in segments if one.start.stream_limit is not None]
    ends = [None if one.end is None else one.end.connections for one in segments]
    counts = {name: _total(ends, name) for name in ("opened", "reconnects", "goaways", "resets")}
    return Connections(**counts, stream_limit=min(limits, default=None), handshake=figures(handshakes))


def _watches(recording: LoadRecording, segments: Sequence[SegmentRecord]) -> Watches:
    counts: dict[str, Any] = {name: sum(one.watches[name] for one in segments) for name in WATCH_COUNTS}
    times: dict[str, Any] = {f"time_to_{name}": figures(recording.merged(f"watch_{name}")) for name in _WATCH_TIMES}
    return Watches(**counts, **times)


def _total(ends: Sequence[object | None], name: str) -> int | None:
    """The sum over all segments; None where one did not come to its end, or none began."""
    return _sum(None if end is None else getattr(end, name) for end in ends) if ends else None


def _series(recording: LoadRecording, series: Mapping[str, SeriesRecord]) -> list[Series]:
    """All of them, those with the most requests first."""
    ordered = sorted(series.items(), key=lambda item: (-item[1].requests, item[0]))
    return [
        Series(
            key=key,
            ok=one.ok,
            errors=dict(sorted(one.errors.items())),
            timed_out=one.timed_out,
            bytes=one.bytes,
            response=figures(one.response),
            service=figures(one.service),
            slices=_slices(recording.slices, key) if rank < _SLICED else [],
        )
        for rank, (key, one) in enumerate(ordered)
    ]


def _slices(slices: Slices, key: str) -> list[SliceFigures]:
    return [
        SliceFigures(
            second=second,
            seconds=slices.seconds,
            count=one.count,
            errors=one.errors,
            p50=one.p50,
            p99=one.p99,
            max=one.max,
        )
        for second, one in slices.of(key)
    ]
