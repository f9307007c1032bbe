"""The block of several runners; it stands beside `load`."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta, field

from perfq.measure.document import Document


class Runner(Document):
    """One runner of the fleet."""

    name: str
    index: int
    status: Literal["stored", "missing", "failed"]
    node: str | None = None
    planned: int | None = None
    ok: int | None = None
    clock_offset_ns: int | None = None
    start_skew_ns: int | None = None
    error: str | None = None


class Fleet(Document):
    """What only a fleet has."""

    runners: list[Runner] = field(default_factory=list)
    start_skew_ns: Annotated[int | None, Meta(description="Latest start − earliest start")] = None
