"""What a replay was asked to do, resolved and checked before anything starts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from perfq.drive.stop import StopLimits

if TYPE_CHECKING:
    from perfq._core import Plan
    from perfq.profile.budgets import Budget
    from perfq.profile.client import ClientDefinition

#: Churn may be extended by at most this long, so that the input samples can be taken.
MAX_EXTENSION_S = 60


@dataclass(frozen=True)
class Size:
    """The terminal's size in cells."""

    cols: int = 160
    rows: int = 50


@dataclass(frozen=True)
class ReplayOptions:
    """One replay."""

    plan: Plan
    profile: Mapping[str, object]
    client: ClientDefinition
    argv: tuple[str, ...]
    out: Path
    run_id: str
    budgets: tuple[Budget, ...] = ()
    limits: StopLimits = field(default_factory=StopLimits)
    pairs: int = 50
    probes: int = 40
    pod_bytes: int = 0
    size: Size = field(default_factory=Size)
    ready_timeout_s: float = 30.0
    quiet: bool = False
    scenarios: bool = True
    #: Path of the profiler, where a CPU profile of the client was asked for.
    profiler: str | None = None
    command: tuple[str, ...] = ()
    allocations: bool = False
    linked_run: str | None = None
