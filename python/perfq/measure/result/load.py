"""The block of a request load."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta, field

from perfq.measure.document import Document
from perfq.measure.load.manifest import Overload, Protocol
from perfq.measure.result.common import Figures, SeriesPoint
from perfq.measure.result.load_server import Server

SloClass = Literal["mutating", "get", "namespace_read", "cluster_read"]
Cause = Literal["lag", "slot_wait", "order_wait", "unreachable", "dropped"]


class Counts(Document):
    """ok + Σ errors + timed_out + cancelled + not_sent = planned; late overlaps them."""

    planned: int | None
    sent: int
    ok: int
    errors: dict[str, int] = field(default_factory=dict)
    timed_out: int
    cancelled: Annotated[int | None, Meta(description="On the wire at the deadline")]
    not_sent: Annotated[int | None, Meta(description="Never sent: by the deadline, or dropped")]
    late: Annotated[int, Meta(description="lag above 10 ms")]
    retries: int
    bytes: Annotated[int, Meta(description="Of the answers' bodies")]
    error_share: Annotated[float | None, Meta(description="(Σ errors + timed_out) / (ok + Σ errors + timed_out)")]


class Rates(Counts):
    """What was asked for and what came of it. A closed loop asks for no rate; where a load has both kinds, its rates
    are those of the open loops."""

    closed: Annotated[bool, Meta(description="A request is due when a worker is free: no open loop")]
    requested_rate: float | None
    achieved_rate: Annotated[float | None, Meta(description="Sent by the planned end, over the planned time")]


class Connections(Document):
    """Connections of the run, each counted; null where a segment did not come to its end."""

    opened: int | None
    reconnects: int | None
    goaways: int | None
    resets: int | None
    stream_limit: Annotated[int | None, Meta(description="The lowest that the target stated; HTTP/2 alone")] = None
    handshake: Annotated[Figures | None, Meta(description="TCP and TLS, before T0")] = None


class Watches(Document):
    """Long-lived requests. Times count from the send; they are null where no watch came to that."""

    opened: int
    ended: Annotated[int, Meta(description="Streams")]
    events: int
    bookmarks: int
    bytes: int
    relists: Annotated[int, Meta(description="After a 410")]
    reopened: Annotated[int, Meta(description="The server had ended the stream")]
    time_to_headers: Figures | None = None
    time_to_first_event: Figures | None = None
    time_to_initial_bookmark: Figures | None = None


class Segment(Rates):
    """A stretch of the load with a T0 of its own."""

    runners: int
    connections: Annotated[int, Meta(description="Of each runner")]
    in_flight: Annotated[int, Meta(description="Of each runner, at most")]
    protocol: Protocol
    planned_ns: Annotated[int | None, Meta(description="From T0 to the planned end")]
    wall_ns: Annotated[int | None, Meta(description="From T0 to the last answer, or the deadline")]
    drain_ns: Annotated[int | None, Meta(description="From the planned end on")]
    stopped: str | None = None


class SliceFigures(Document):
    """A stretch of time of a series."""

    second: Annotated[int, Meta(description="It begins so many seconds after the load began")]
    seconds: int = 1
    count: int
    errors: int
    p50: int | None = None
    p99: int | None = None
    max: int | None = None


class Series(Document):
    """One (verb, group/version/resource, subresource, scope); names are masked."""

    key: str
    ok: int
    errors: dict[str, int] = field(default_factory=dict)
    timed_out: int = 0
    bytes: int
    response: Figures | None = None
    service: Figures | None = None
    slices: Annotated[list[SliceFigures], Meta(description="Of the series with the most requests")] = field(
        default_factory=list
    )


class SloFigures(Document):
    """A class of requests as the Kubernetes API SLOs have it."""

    p99_ns: Annotated[
        int | None,
        Meta(description="The worst of the p99 of each series with at least 100 samples, and of the class as a whole"),
    ]
    series: Annotated[str | None, Meta(description="Whose p99 that is; null for the class as a whole")]
    latency: Annotated[
        Literal["response", "service"], Meta(description="service in a closed loop, where response is not known")
    ]
    count: int


class ErrorSample(Document):
    """One error, as it came."""

    t_ns: Annotated[int, Meta(description="After the load began")]
    segment: int
    key: str
    series: str
    status: int | None
    text: str


class Load(Rates):
    """All segments together."""

    limited_by: Annotated[
        Literal["target", "generator"] | None,
        Meta(description="Whose doing it was that less than 99 % of the rate was reached"),
    ] = None
    answered_rate: Annotated[
        float | None, Meta(description="Answers/s in the second half of an open loop of at least three seconds")
    ] = None
    cause: Annotated[
        Cause | None, Meta(description="What most of the waiting was, or what became of the requests that are lacking")
    ] = None
    overload: Overload | None = None
    connections: Connections
    watches: Watches
    engine_cpu_seconds: Annotated[float | None, Meta(description="CPU time of all threads of the engine")] = None
    engine_cpu_share: Annotated[
        float | None, Meta(description="Of its busiest thread's time, on average over the planned seconds")
    ] = None
    in_flight_max: int | None = None
    resends: Annotated[
        int | None, Meta(description="Streams that the server had not taken, sent again; no retries")
    ] = None
    envelopes: Annotated[int | None, Meta(description="Answers in Kubernetes' protobuf")] = None
    segments: list[Segment] = field(default_factory=list)
    slo: dict[SloClass, SloFigures] = field(default_factory=dict)
    series: list[Series] = field(default_factory=list)
    error_samples: Annotated[list[ErrorSample], Meta(description="A bounded sample")] = field(default_factory=list)
    timeline: Annotated[
        dict[str, list[SeriesPoint]], Meta(description="By second, down-sampled for charts; the extremes survive")
    ] = field(default_factory=dict)
    priority_levels: Annotated[
        dict[str, int],
        Meta(description="Answers by API priority and fairness level: its name with --server-metrics, else its UID"),
    ] = field(default_factory=dict)
    server: Annotated[Server | None, Meta(description="The target's own metrics, after less before")] = None
