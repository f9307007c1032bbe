"""What only a request load records. The contract is docs/reference/samples.md.

Counts are those of one second, so that their sum is the total; histograms stay the text that they were
written as, until they are merged.
"""

from __future__ import annotations

from msgspec import Raw, Struct, field

from perfq.measure.samples import Common, Line, Whole


class LoadSegment(Line, tag="load_segment"):
    """A stretch of the load began: its connections are warm, and T0 is known."""

    segment: Whole
    t0: Whole
    planned: Whole | None = None
    end_ns: Whole | None = None
    requested_rate: float | None = None
    closed: bool = False
    runners: Whole = 1
    connections: Whole = 1
    in_flight: Whole = 1
    protocol: str = "http2"
    stream_limit: Whole | None = None
    handshake: Raw = Raw()


class SeriesSlice(Struct):
    """One series in one second."""

    key: str
    ok: Whole = 0
    errors: dict[str, Whole] = {}
    timed_out: Whole = 0
    bytes: Whole = 0
    response: Raw = Raw()
    service: Raw = Raw()


class WatchCounts(Struct, frozen=True):
    """Watches of a segment, or of a second of it."""

    opened: Whole = 0
    ended: Whole = 0
    events: Whole = 0
    bookmarks: Whole = 0
    bytes: Whole = 0
    #: After a 410, and where the server had ended the stream.
    relists: Whole = 0
    reopened: Whole = 0


class LoadSlice(Line, tag="load_slice"):
    """One second of a segment, counted from its T0."""

    segment: Whole
    second: Whole
    sent: Whole = 0
    ok: Whole = 0
    errors: dict[str, Whole] = field(default_factory=dict)
    timed_out: Whole = 0
    cancelled: Whole = 0
    not_sent: Whole = 0
    late: Whole = 0
    retries: Whole = 0
    bytes: Whole = 0
    in_flight_max: Whole = 0
    cpu_ns: Whole = 0
    cpu_share_max: float | None = None
    latency: dict[str, Raw] = field(default_factory=dict)
    series: list[SeriesSlice] = field(default_factory=list)
    watches: WatchCounts = WatchCounts()
    #: Answers by the UID of their APF priority level.
    priority_levels: dict[str, Whole] = field(default_factory=dict)


class LoadError(Line, tag="load_error"):
    """One error of a bounded sample."""

    segment: Whole
    key: str
    series: str
    status: Whole | None = None
    text: str = ""


class ConnectionCounts(Struct, frozen=True):
    """Connections of a segment."""

    opened: Whole = 0
    reconnects: Whole = 0
    goaways: Whole = 0
    resets: Whole = 0
    stream_limit: Whole | None = None


class UnsentWait(Struct, frozen=True):
    """What requests that were due and never sent had waited for by the end, summed; ns."""

    slot_ns: Whole = 0
    order_ns: Whole = 0


class RawDataStatus(Struct, frozen=True):
    """What became of the file of all samples."""

    lines: Whole = 0
    lost: Whole = 0
    error: str | None = None


class LoadEnd(Line, tag="load_end"):
    """A segment ended: its totals."""

    segment: Whole
    planned: Whole
    sent: Whole
    sent_by_end: Whole
    ok: Whole
    errors: dict[str, Whole]
    timed_out: Whole
    cancelled: Whole
    not_sent: Whole
    late: Whole = 0
    retries: Whole = 0
    #: Streams that the server had not taken.
    resends: Whole = 0
    #: Answers in Kubernetes' protobuf.
    envelopes: Whole = 0
    end_ns: Whole | None = None
    wall_ns: Whole | None = None
    drain_ns: Whole | None = None
    #: Of `not_sent`: by the overload policy.
    dropped: Whole = 0
    unsent_wait: UnsentWait = UnsentWait()
    stopped: str | None = None
    overload: str = "queue"
    connections: ConnectionCounts = ConnectionCounts()
    watches: WatchCounts = WatchCounts()
    #: Of the run so far; None where no raw data was asked for.
    raw_data: RawDataStatus | None = None


class ServerMetrics(Line, tag="server_metrics"):
    """What the target said of itself: lines of its /metrics, or why there are none."""

    #: before, after
    when: str
    text: str | None = None
    why: str | None = None
    #: UID → name of each priority level.
    levels: dict[str, str] = field(default_factory=dict)


Sample = Common | LoadSegment | LoadSlice | LoadError | LoadEnd | ServerMetrics
