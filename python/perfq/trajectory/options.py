"""What a replay of sessions was asked to do, resolved and checked before anything starts."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from perfq.drive.stop import StopLimits
from perfq.trajectory.plan import SessionPlan

if TYPE_CHECKING:
    from perfq.profile.budgets import Budget


@dataclass(frozen=True)
class TrajectoryOptions:
    """One run."""

    plan: SessionPlan
    #: The profile's file as it was given, and the SHA-256 of what stands in it.
    file: str
    sha256: str
    out: Path
    run_id: str
    budgets: tuple[Budget, ...] = ()
    limits: StopLimits = field(default_factory=StopLimits)
    command: tuple[str, ...] = ()
