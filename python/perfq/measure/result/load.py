"""The block of a request load."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, JsonValue

from perfq.measure.document import Document
from perfq.measure.result.common import Figures


class Connections(Document):
    """Connections of the run, each counted."""

    opened: int
    reconnects: int
    goaways: int
    resets: int
    stream_limit: int | None = None


class Watches(Document):
    """Long-lived requests."""

    opened: int
    ended: int
    events: int
    bytes: int
    relists: int


class SliceFigures(Document):
    """One second of a series."""

    second: int
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
    bytes: int
    response: Figures | None = None
    service: Figures | None = None
    slices: list[SliceFigures] = Field(default_factory=list)


class Load(Document):
    """ok + Σ errors + timed_out + cancelled + not_sent = planned; late overlaps them."""

    planned: int
    sent: int
    ok: int
    errors: dict[str, int] = Field(default_factory=dict)
    timed_out: int
    cancelled: int
    not_sent: int
    late: int = Field(description="lag above 10 ms")
    requested_rate: float | None
    achieved_rate: float | None
    limited_by: Literal["target", "generator"] | None = None
    overload: Literal["queue", "drop"] | None = None
    connections: Connections
    watches: Watches
    retries: int
    series: list[Series] = Field(default_factory=list)
    server: dict[str, JsonValue] | None = Field(default=None, description="The target's own metrics, before and after")
