"""What a load was asked to do, resolved and checked before anything starts."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from perfq.drive.stop import StopLimits
from perfq.load.planned import PlannedLoad
from perfq.load.target import Target
from perfq.measure.load.manifest import Ordering, Overload

if TYPE_CHECKING:
    from perfq.profile.budgets import Budget


@dataclass(frozen=True)
class LoadOptions:
    """One load."""

    planned: PlannedLoad
    target: Target
    out: Path
    run_id: str
    timeout_ms: int
    #: Of a watch's silence.
    watch_timeout_ms: int
    grace_ms: int
    overload: Overload
    ordering: Ordering
    budgets: tuple[Budget, ...] = ()
    limits: StopLimits = field(default_factory=StopLimits)
    #: The target's own metrics are read.
    server_metrics: bool = False
    #: Every sample goes to raw.ndjson.zst in the run directory.
    raw_data: bool = False
    #: Of each run one, where kperf's form was asked for.
    kperf_results: tuple[Path, ...] = ()
    command: tuple[str, ...] = ()
