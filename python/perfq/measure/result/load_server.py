"""What the target said of itself: its own metrics, after the load less before it."""

from __future__ import annotations

from pydantic import Field

from perfq.measure.document import Document


class ServerRequests(Document):
    """Requests of one kind as the server measured them, without the network and the client's waiting.

    Quantiles are upper bounds: the bounds of the server's own buckets. They are null beyond the last bucket, and p99 is
    null below 100 requests.
    """

    key: str = Field(description="As the client's series are called")
    count: int
    mean_ns: int
    p50_ns: int | None
    p99_ns: int | None


class QueueWait(Document):
    """Waiting in the queues of a priority level."""

    key: str = Field(description="The priority level")
    count: int
    mean_ns: int


class Server(Document):
    """All requests that the server answered meanwhile, other clients' among them."""

    requests: list[ServerRequests] = Field(default_factory=list, description="apiserver_request_duration_seconds")
    in_flight: dict[str, int] = Field(
        default_factory=dict, description="apiserver_current_inflight_requests by kind, when the load had ended"
    )
    queued: dict[str, int] = Field(
        default_factory=dict, description="apiserver_flowcontrol_current_inqueue_requests by priority level, at the end"
    )
    rejected: dict[str, int] = Field(
        default_factory=dict, description="apiserver_flowcontrol_rejected_requests_total by priority level and reason"
    )
    queue_waits: list[QueueWait] = Field(
        default_factory=list, description="apiserver_flowcontrol_request_wait_duration_seconds"
    )
