"""The manifest of a request load: the input, its segments, what was asked for beside them."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta, field

from perfq.measure.document import Document
from perfq.measure.manifest import Manifest

InputKind = Literal["load profile", "runner group", "kperf replay", "trace", "trajectory profile"]
Overload = Literal["queue", "drop"]
Ordering = Literal["object", "none", "strict"]
Protocol = Literal["http1", "http2"]
Accept = Literal["json", "protobuf"]


class InputFacts(Document):
    """What was to be sent."""

    kind: InputKind
    name: Annotated[str, Meta(description="File as it was given; of a URL without user and query")]
    bytes: int | None = None
    sha256: str | None = None
    description: Annotated[str | None, Meta(description="The input's own")] = None


class SegmentFacts(Document):
    """A stretch of the load with a T0 of its own: a spec of a load profile, or the whole of a replay."""

    runners: int
    runner_index: Annotated[int | None, Meta(description="Only this runner's requests are sent")] = None
    connections: Annotated[int, Meta(description="Of each runner")]
    in_flight: Annotated[int, Meta(description="Requests in flight at most, of each runner")]
    protocol: Protocol
    accept: Accept
    max_retries: int = 0
    rate: Annotated[
        float | None, Meta(description="Requests/s over all runners; null for a closed loop or a trace")
    ] = None
    closed: Annotated[bool, Meta(description="A request is due when a worker is free")] = False
    planned: Annotated[int | None, Meta(description="Requests, where that is known before the run")] = None
    duration_ns: int | None = None
    warm_up: Annotated[bool, Meta(description="It warms up for the one behind it: no part of the measured load")] = (
        False
    )


class LoadOptions(Document):
    """What was asked for beside the input."""

    timeout_ms: int
    watch_timeout_ms: Annotated[int | None, Meta(description="Of a watch's silence")] = None
    grace_ms: int
    overload: Overload
    ordering: Ordering
    seed: int | None = None
    raw_data: bool = False
    max_time_s: float | None = None
    verbs: Annotated[dict[str, int], Meta(description="Planned requests by verb, where they are known")] = field(
        default_factory=dict
    )


class LoadManifest(Manifest):
    """What only a request load has."""

    kind: Literal["load", "fleet"] = "load"
    input: InputFacts
    segments: list[SegmentFacts]
    options: LoadOptions
    object_hash: Annotated[str | None, Meta(description="What the embedded server held, where it is the target")] = None
    notes: Annotated[list[str], Meta(description="What was guessed, dropped or changed in the input")] = field(
        default_factory=list
    )

    @property
    def subject(self) -> str:
        """The input's file name."""
        return self.input.name.rstrip("/").rpartition("/")[2] or self.input.name
