"""result.json (`perfq.result/v1`): the only source of every report.

A field that a run cannot know is null, and a warning names it by JSON pointer; it is never 0.
Times end in `_ns`, sizes in `_bytes`; both and all counts are integers.
"""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from perfq.measure.document import Document
from perfq.measure.manifest import Kind
from perfq.measure.result.allocations import Allocations
from perfq.measure.result.common import (
    Api,
    Artifact,
    BudgetResult,
    Cleanup,
    Latency,
    LatencyName,
    ManifestPart,
    Processes,
    ResultWarning,
    Validity,
    Verdict,
)
from perfq.measure.result.fleet import Fleet
from perfq.measure.result.live import Live
from perfq.measure.result.load import Load
from perfq.measure.result.replay import Replay
from perfq.measure.result.trajectory import Trajectory

SCHEMA = "perfq.result/v1"

__all__ = ["SCHEMA", "Result"]


class Result(Document):
    """One run, measured and judged."""

    schema_: Literal["perfq.result/v1"] = Field(default="perfq.result/v1", alias="schema")
    kind: Kind
    run_id: str = Field(pattern=r"^[a-z0-9]([a-z0-9-]{0,38}[a-z0-9])?$")
    verdict: Verdict
    validity: Validity
    manifest: ManifestPart
    latency: dict[LatencyName, Latency | None]
    process: Processes
    api: Api | None
    budgets: list[BudgetResult]
    warnings: list[ResultWarning]
    artifacts: list[Artifact]
    cleanup: Cleanup
    allocations: Allocations | None = Field(
        default=None, description="Only of a linked run that traced the client's allocations"
    )
    replay: Replay | None = None
    load: Load | None = None
    live: Live | None = None
    fleet: Fleet | None = None
    trajectory: Trajectory | None = None
