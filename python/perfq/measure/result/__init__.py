"""result.json (`perfq.result/v1`): the only source of every report.

A field that a run cannot know is null, and a warning names it by JSON pointer; it is never 0.
Times end in `_ns`, sizes in `_bytes`; both and all counts are integers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

from msgspec import Meta, field

from perfq.measure.document import Document
from perfq.measure.manifest import Kind
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

if TYPE_CHECKING:
    from perfq.measure.result.allocations import Allocations
    from perfq.measure.result.fleet import Fleet
    from perfq.measure.result.live import Live
    from perfq.measure.result.load import Load
    from perfq.measure.result.replay import Replay
    from perfq.measure.result.trajectory import Trajectory

SCHEMA = "perfq.result/v1"

__all__ = ["SCHEMA", "Result"]


class Result(Document):
    """One run, measured and judged.

    This much all kinds have; the blocks stand in `WholeResult`, and those of one kind in a model of that kind: a run
    loads what it has, not all that there is.
    """

    schema_: Literal["perfq.result/v1"] = field(name="schema", default="perfq.result/v1")
    kind: Kind
    run_id: Annotated[str, Meta(pattern=r"^[a-z0-9]([a-z0-9-]{0,38}[a-z0-9])?$")]
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
    if TYPE_CHECKING:
        allocations: Allocations | None = None
        replay: Replay | None = None
        load: Load | None = None
        live: Live | None = None
        fleet: Fleet | None = None
        trajectory: Trajectory | None = None
    else:
        allocations: None = None
        replay: None = None
        load: None = None
        live: None = None
        fleet: None = None
        trajectory: None = None
