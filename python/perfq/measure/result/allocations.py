"""Allocation growth of a Python client, of a run that traced it."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta

from perfq.measure.document import Document


class AllocationGrowth(Document):
    """A line of source that held more at the end than when the client was populated."""

    file: str
    line: int
    bytes: Annotated[int, Meta(description="Bytes more")]
    count: Annotated[int, Meta(description="Blocks more; negative where fewer blocks hold more bytes")]


class Allocations(Document):
    """The client's last report (`alloc` of the probe)."""

    seconds: Annotated[float, Meta(description="From the client's first populated table to the report")]
    traced_bytes: Annotated[int, Meta(description="All that was traced at the report")]
    growth: Annotated[list[AllocationGrowth], Meta(description="The largest first")]
