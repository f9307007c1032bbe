"""What the target said of itself: its own metrics, after the load less before it."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, field

from perfq.measure.document import Document


class ServerRequests(Document):
    """Requests of one kind as the server measured them, without the network and the client's waiting.

    Quantiles are upper bounds: the bounds of the server's own buckets. They are null beyond the last bucket, and p99 is
    null below 100 requests.
    """

    key: Annotated[str, Meta(description="As the client's series are called")]
    count: int
    mean_ns: int
    p50_ns: int | None
    p99_ns: int | None


class QueueWait(Document):
    """Waiting in the queues of a priority level."""

    key: Annotated[str, Meta(description="The priority level")]
    count: int
    mean_ns: int


class Server(Document):
    """All requests that the server answered meanwhile, other clients' among them."""

    requests: Annotated[list[ServerRequests], Meta(description="apiserver_request_duration_seconds")] = field(
        default_factory=list
    )
    in_flight: Annotated[
        dict[str, int], Meta(description="apiserver_current_inflight_requests by kind, when the load had ended")
    ] = field(default_factory=dict)
    queued: Annotated[
        dict[str, int], Meta(description="apiserver_flowcontrol_current_inqueue_requests by priority level, at the end")
    ] = field(default_factory=dict)
    rejected: Annotated[
        dict[str, int], Meta(description="apiserver_flowcontrol_rejected_requests_total by priority level and reason")
    ] = field(default_factory=dict)
    queue_waits: Annotated[list[QueueWait], Meta(description="apiserver_flowcontrol_request_wait_duration_seconds")] = (
        field(default_factory=list)
    )
