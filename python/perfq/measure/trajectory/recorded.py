"""Replayed sessions as they were recorded, before anything is judged."""

from __future__ import annotations

from dataclasses import dataclass

from perfq.measure.document import Document
from perfq.measure.recorded import Recorded
from perfq.measure.result.trajectory import Trajectory
from perfq.measure.trajectory.evidence import TrajectoryEvidence
from perfq.measure.trajectory.manifest import TrajectoryManifest


@dataclass(frozen=True, kw_only=True)
class TrajectoryRecorded(Recorded):
    """What `fold` gives of replayed sessions."""

    manifest: TrajectoryManifest
    evidence: TrajectoryEvidence
    trajectory: Trajectory

    def blocks(self) -> dict[str, Document]:
        """`trajectory`."""
        return {"trajectory": self.trajectory}
