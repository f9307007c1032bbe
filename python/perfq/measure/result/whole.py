"""A result of any kind: what is read back, and what the JSON Schema is made of."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta

from perfq.measure.result import Result
from perfq.measure.result.allocations import Allocations
from perfq.measure.result.fleet import Fleet
from perfq.measure.result.live import Live
from perfq.measure.result.load import Load
from perfq.measure.result.replay import Replay
from perfq.measure.result.trajectory import Trajectory


class WholeResult(Result):
    """One run, measured and judged."""

    allocations: Annotated[
        Allocations | None, Meta(description="Only of a linked run that traced the client's allocations")
    ] = None
    replay: Replay | None = None
    load: Load | None = None
    live: Live | None = None
    fleet: Fleet | None = None
    trajectory: Trajectory | None = None
