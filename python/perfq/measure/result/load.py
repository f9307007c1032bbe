"""The block of a request load."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

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
    errors: dict[str, int] = Field(default_factory=dict)
    timed_out: int
    cancelled: int | None = Field(description="On the wire at the deadline")
    not_sent: int | None = Field(description="Never sent: by the deadline, or dropped")
    late: int = Field(description="lag above 10 ms")
    retries: int
    bytes: int = Field(description="Of the answers' bodies")
    error_share: float | None = Field(description="(Σ errors + timed_out) / (ok + Σ errors + timed_out)")


class Rates(Counts):
    """What was asked for and what came of it. A closed loop asks for no rate; where a load has both kinds, its rates
    are those of the open loops."""

    closed: bool = Field(description="A request is due when a worker is free: no open loop")
    requested_rate: float | None
    achieved_rate: float | None = Field(description="Sent by the planned end, over the planned time")


class Connections(Document):
    """Connections of the run, each counted; null where a segment did not come to its end."""

    opened: int | None
    reconnects: int | None
    goaways: int | None
    resets: int | None
    stream_limit: int | None = Field(default=None, description="The lowest that the target stated; HTTP/2 alone")
    handshake: Figures | None = Field(default=None, description="TCP and TLS, before T0")


class Watches(Document):
    """Long-lived requests. Times count from the send; they are null where no watch came to that."""

    opened: int
    ended: int = Field(description="Streams")
    events: int
    bookmarks: int
    bytes: int
    relists: int = Field(description="After a 410")
    reopened: int = Field(description="The server had ended the stream")
    time_to_headers: Figures | None = None
    time_to_first_event: Figures | None = None
    time_to_initial_bookmark: Figures | None = None


class Segment(Rates):
    """A stretch of the load with a T0 of its own."""

    runners: int
    connections: int = Field(description="Of each runner")
    in_flight: int = Field(description="Of each runner, at most")
    protocol: Protocol
    planned_ns: int | None = Field(description="From T0 to the planned end")
    wall_ns: int | None = Field(description="From T0 to the last answer, or the deadline")
    drain_ns: int | None = Field(description="From the planned end on")
    stopped: str | None = None


class SliceFigures(Document):
    """A stretch of time of a series."""

    second: int = Field(description="It begins so many seconds after the load began")
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
    errors: dict[str, int] = Field(default_factory=dict)
    timed_out: int = 0
    bytes: int
    response: Figures | None = None
    service: Figures | None = None
    slices: list[SliceFigures] = Field(default_factory=list, description="Of the series with the most requests")


class SloFigures(Document):
    """A class of requests as the Kubernetes API SLOs have it."""

    p99_ns: int | None = Field(
        description="The worst of the p99 of each series with at least 100 samples, and of the class as a whole"
    )
    series: str | None = Field(description="Whose p99 that is; null for the class as a whole")
    latency: Literal["response", "service"] = Field(description="service in a closed loop, where response is not known")
    count: int


class ErrorSample(Document):
    """One error, as it came."""

    t_ns: int = Field(description="After the load began")
    segment: int
    key: str
    series: str
    status: int | None
    text: str


class Load(Rates):
    """All segments together."""

    limited_by: Literal["target", "generator"] | None = Field(
        default=None, description="Whose doing it was that less than 99 % of the rate was reached"
    )
    answered_rate: float | None = Field(
        default=None, description="Answers/s in the second half of an open loop of at least three seconds"
    )
    cause: Cause | None = Field(
        default=None, description="What most of the waiting was, or what became of the requests that are lacking"
    )
    overload: Overload | None = None
    connections: Connections
    watches: Watches
    engine_cpu_seconds: float | None = Field(default=None, description="CPU time of all threads of the engine")
    engine_cpu_share: float | None = Field(
        default=None, description="Of its busiest thread's time, on average over the planned seconds"
    )
    in_flight_max: int | None = None
    resends: int | None = Field(
        default=None, description="Streams that the server had not taken, sent again; no retries"
    )
    envelopes: int | None = Field(default=None, description="Answers in Kubernetes' protobuf")
    segments: list[Segment] = Field(default_factory=list)
    slo: dict[SloClass, SloFigures] = Field(default_factory=dict)
    series: list[Series] = Field(default_factory=list)
    error_samples: list[ErrorSample] = Field(default_factory=list, description="A bounded sample")
    timeline: dict[str, list[SeriesPoint]] = Field(
        default_factory=dict, description="By second, down-sampled for charts; the extremes survive"
    )
    priority_levels: dict[str, int] = Field(
        default_factory=dict,
        description="Answers by API priority and fairness level: its name with --server-metrics, else its UID",
    )
    server: Server | None = Field(default=None, description="The target's own metrics, after less before")
