"""The record of a request load, folded as it is read: counts summed, histograms merged, seconds kept.

The file may be large (a line a second with every series in it), so that no line is kept.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from msgspec import Raw

from perfq._core import Histogram
from perfq.measure.load import samples
from perfq.measure.load.slices import Slices, slice_seconds
from perfq.measure.phases import SECOND
from perfq.measure.record import RunRecord
from perfq.measure.result.common import LatencyName
from perfq.measure.samples import read

#: In the order in which reports show them.
LATENCIES: Final[tuple[LatencyName, ...]] = ("response", "service", "ttfb", "slot_wait", "order_wait", "lag")
#: So many errors are kept with their text; all are counted.
ERROR_SAMPLES: Final = 100


@dataclass(slots=True)
class Second:
    """One line of a segment: about a second, ns after its T0. What ended in it was handed over by its end."""

    begin_ns: int
    end_ns: int
    sent: int
    #: Answers that came, whatever their status.
    answered: int
    errors: int
    in_flight_max: int
    cpu_share_max: float | None
    p50: int | None = None
    p99: int | None = None
    max: int | None = None
    lag_max: int | None = None
    slot_wait_max: int | None = None


@dataclass
class SeriesRecord:
    """What was counted in one series."""

    ok: int = 0
    errors: Counter[str] = field(default_factory=Counter)
    timed_out: int = 0
    bytes: int = 0
    response: Histogram = field(default_factory=Histogram)
    service: Histogram = field(default_factory=Histogram)

    @property
    def requests(self) -> int:
        """Those that ended with an answer, an error or a time-out."""
        return self.ok + self.errors.total() + self.timed_out

    def add(self, other: SeriesRecord) -> None:
        """Takes another one in."""
        self.ok += other.ok
        self.errors.update(other.errors)
        self.timed_out += other.timed_out
        self.bytes += other.bytes
        self.response.merge(other.response)
        self.service.merge(other.service)


@dataclass
class SegmentRecord:
    """One segment: its start, the sums over its seconds, its end where it came to one."""

    start: samples.LoadSegment
    handshake: Histogram
    end: samples.LoadEnd | None = None
    sums: Counter[str] = field(default_factory=Counter)
    errors: Counter[str] = field(default_factory=Counter)
    latency: dict[str, Histogram] = field(default_factory=dict)
    series: dict[str, SeriesRecord] = field(default_factory=dict)
    watches: Counter[str] = field(default_factory=Counter)
    priority_levels: Counter[str] = field(default_factory=Counter)
    seconds: list[Second] = field(default_factory=list)
    last_t: int = 0

    @property
    def wall_ns(self) -> int | None:
        """From T0 to the last answer, or the deadline; of a segment that was cut off, to its last line."""
        if self.end is not None and self.end.wall_ns is not None:
            return self.end.wall_ns
        return self.last_t - self.start.t0 if self.last_t > self.start.t0 else None

    @property
    def planned_ns(self) -> int | None:
        """From T0 to the planned end; of a trace it is known once it was read."""
        known = None if self.end is None else self.end.end_ns
        return self.start.end_ns if known is None else known

    @property
    def planned_seconds(self) -> list[Second]:
        """The seconds before the planned end (all of them where none was planned)."""
        end = self.planned_ns
        return self.seconds if end is None else [one for one in self.seconds if one.begin_ns < end]


WATCH_COUNTS: Final = samples.WatchCounts.__struct_fields__
#: Counts of a slice that are summed under their own names.
_SUMMED: Final = (
    "sent", "ok", "timed_out", "cancelled", "not_sent", "late", "retries", "bytes", "cpu_ns",
)  # fmt: skip


@dataclass
class LoadRecording(RunRecord):
    """The record of one load. Of a segment that warms up, only its own counts are kept."""

    warming_up: Collection[int] = ()
    segments: dict[int, SegmentRecord] = field(default_factory=dict)
    #: Each series over time.
    slices: Slices = field(default_factory=Slices)
    error_samples: list[samples.LoadError] = field(default_factory=list)
    server: dict[str, samples.ServerMetrics] = field(default_factory=dict)

    @classmethod
    def load(cls, path: Path, warming_up: Collection[int] = ()) -> LoadRecording:
        """Reads samples.ndjson. `warming_up`: numbers of the segments that do. OSError as the file gives it."""
        recording = cls(warming_up=warming_up, slices=Slices(slice_seconds(path, warming_up)))
        for sample in read(path, samples.Sample, recording.reading):
            recording._take(sample)
        recording.in_order()
        return recording

    @property
    def measured(self) -> list[SegmentRecord]:
        """The segments that are the load, in order."""
        return [self.segments[number] for number in sorted(self.segments) if number not in self.warming_up]

    @property
    def t0(self) -> int | None:
        """T0 of the first segment that is measured."""
        return min((segment.start.t0 for segment in self.measured), default=None)

    @property
    def killed(self) -> bool:
        """Whether perfq itself was ended before it had ended the load."""
        return "end" not in self.marks

    @property
    def series(self) -> dict[str, SeriesRecord]:
        """Each series over all segments that are measured."""
        segments = self.measured
        if len(segments) == 1:
            return segments[0].series
        found: dict[str, SeriesRecord] = {}
        for segment in segments:
            for key, one in segment.series.items():
                found.setdefault(key, SeriesRecord()).add(one)
        return found

    def merged(self, name: str) -> Histogram:
        """One latency over all segments that are measured."""
        return merged(self.measured, name)

    def _take(self, sample: samples.Sample) -> None:
        self.take_common(sample)
        match sample:
            case samples.LoadSegment():
                try:
                    handshake = histogram_of(sample.handshake)
                except ValueError as error:
                    self.reading.refuse(error)
                    return
                self.segments[sample.segment] = SegmentRecord(sample, handshake, last_t=sample.t)
            case samples.LoadSlice():
                self._slice(sample)
            case samples.LoadEnd():
                if sample.segment in self.segments:
                    self.segments[sample.segment].end = sample
                    self.segments[sample.segment].last_t = sample.t
                else:
                    self.reading.refuse(f"the end of segment {sample.segment}, which never began")
            case samples.ServerMetrics():
                self.server[sample.when] = sample
            case samples.LoadError():
                # The room is for errors of the load itself.
                if sample.segment not in self.warming_up and len(self.error_samples) < ERROR_SAMPLES:
                    self.error_samples.append(sample)

    def _slice(self, one: samples.LoadSlice) -> None:
        segment = self.segments.get(one.segment)
        if segment is None:
            self.reading.refuse(f"a second of segment {one.segment}, which never began")
            return
        begin_ns = segment.seconds[-1].end_ns if segment.seconds else 0
        segment.last_t = max(segment.last_t, one.t)
        for name in _SUMMED:
            segment.sums[name] += getattr(one, name)
        segment.errors.update(one.errors)
        segment.priority_levels.update(one.priority_levels)
        for name in WATCH_COUNTS:
            segment.watches[name] += getattr(one.watches, name)
        try:
            latency = {name: histogram_of(text) for name, text in one.latency.items()}
            series = [(each, histogram_of(each.response), histogram_of(each.service)) for each in one.series]
            measured = one.segment not in self.warming_up
            number = self.slices.at((segment.start.t0 - (self.t0 or 0) + begin_ns) // SECOND) if measured else 0
        except ValueError as error:
            self.reading.refuse(error)
            return
        segment.seconds.append(_second(one, (begin_ns, max(begin_ns, one.t - segment.start.t0)), latency))
        for name, histogram in latency.items():
            segment.latency.setdefault(name, Histogram()).merge(histogram)
        if not measured:
            return
        for each, response, service in series:
            shown = service if segment.start.closed else response
            ended = SeriesRecord(each.ok, Counter(each.errors), each.timed_out, each.bytes, service=service)
            if not segment.start.closed:
                ended.response = response
            segment.series.setdefault(each.key, SeriesRecord()).add(ended)
            self.slices.add(each.key, number, ended.errors.total() + each.timed_out, shown)


def merged(segments: Iterable[SegmentRecord], name: str) -> Histogram:
    """One latency over these segments; without response in a closed loop, where nothing is due by a plan."""
    whole = Histogram()
    for segment in segments:
        if name in segment.latency and not (name == "response" and segment.start.closed):
            whole.merge(segment.latency[name])
    return whole


def histogram_of(text: Raw) -> Histogram:
    """What the engine wrote; an empty one for null and where nothing was written. ValueError where it does not fit."""
    histogram = Histogram()
    written = bytes(text)
    if written not in (b"", b"null"):
        histogram.merge_json(written)
    return histogram


def _second(one: samples.LoadSlice, span: tuple[int, int], latency: Mapping[str, Histogram]) -> Second:
    response = latency.get("response") or latency.get("service") or Histogram()
    return Second(
        begin_ns=span[0],
        end_ns=span[1],
        sent=one.sent,
        answered=one.ok + sum(count for key, count in one.errors.items() if key.startswith("http/")),
        errors=sum(one.errors.values()) + one.timed_out,
        in_flight_max=one.in_flight_max,
        cpu_share_max=one.cpu_share_max,
        p50=response.quantile(1, 2),
        p99=response.quantile(99, 100),
        max=response.max,
        lag_max=latency["lag"].max if "lag" in latency else None,
        slot_wait_max=latency["slot_wait"].max if "slot_wait" in latency else None,
    )
