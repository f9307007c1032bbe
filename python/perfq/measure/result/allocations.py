"""Allocation growth of a Python client, of a run that traced it."""

from __future__ import annotations

from pydantic import Field

from perfq.measure.document import Document


class AllocationGrowth(Document):
    """A line of source that held more at the end than when the client was populated."""

    file: str
    line: int
    bytes: int = Field(description="Bytes more")
    count: int = Field(description="Blocks more; negative where fewer blocks hold more bytes")


class Allocations(Document):
    """The client's last report (`alloc` of the probe)."""

    seconds: float = Field(description="From the client's first populated table to the report")
    traced_bytes: int = Field(description="All that was traced at the report")
    growth: list[AllocationGrowth] = Field(description="The largest first")
