"""The manifest of a request load: the input, its segments, what was asked for beside them."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

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
    name: str = Field(description="File as it was given; of a URL without user and query")
    bytes: int | None = None
    sha256: str | None = None
    description: str | None = Field(default=None, description="The input's own")


class SegmentFacts(Document):
    """A stretch of the load with a T0 of its own: a spec of a load profile, or the whole of a replay."""

    runners: int
    runner_index: int | None = Field(default=None, description="Only this runner's requests are sent")
    connections: int = Field(description="Of each runner")
    in_flight: int = Field(description="Requests in flight at most, of each runner")
    protocol: Protocol
    accept: Accept
    max_retries: int = 0
    rate: float | None = Field(
        default=None, description="Requests/s over all runners; null for a closed loop or a trace"
    )
    closed: bool = Field(default=False, description="A request is due when a worker is free")
    planned: int | None = Field(default=None, description="Requests, where that is known before the run")
    duration_ns: int | None = None
    warm_up: bool = Field(default=False, description="It warms up for the one behind it: no part of the measured load")


class LoadOptions(Document):
    """What was asked for beside the input."""

    timeout_ms: int
    watch_timeout_ms: int | None = Field(default=None, description="Of a watch's silence")
    grace_ms: int
    overload: Overload
    ordering: Ordering
    seed: int | None = None
    raw_data: bool = False
    max_time_s: float | None = None
    verbs: dict[str, int] = Field(default_factory=dict, description="Planned requests by verb, where they are known")


class LoadManifest(Manifest):
    """What only a request load has."""

    kind: Literal["load", "fleet"] = "load"
    input: InputFacts
    segments: list[SegmentFacts]
    options: LoadOptions
    object_hash: str | None = Field(default=None, description="What the embedded server held, where it is the target")
    notes: list[str] = Field(default_factory=list, description="What was guessed, dropped or changed in the input")

    @property
    def subject(self) -> str:
        """The input's file name."""
        return self.input.name.rstrip("/").rpartition("/")[2] or self.input.name
