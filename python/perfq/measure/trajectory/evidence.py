"""What judging replayed sessions' validity looks at, beside the figures of the result."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from perfq.measure.harness import Drive, HarnessEvidence, gather_harness
from perfq.measure.trajectory.manifest import TrajectoryManifest
from perfq.measure.trajectory.recording import TrajectoryRecording

if TYPE_CHECKING:
    from perfq._core import RecorderStatus


@dataclass(frozen=True)
class TrajectoryEvidence(HarnessEvidence):
    """None means: not recorded."""

    began: bool
    #: Why the harness ended the sessions by a fault of its own.
    failure: str | None


def gather(
    recording: TrajectoryRecording, manifest: TrajectoryManifest, recorder: RecorderStatus | None
) -> TrajectoryEvidence:
    """Reads it off the record; `recorder` is what became of the lines, where the run is still there."""
    drive = Drive(recording.t0, recording.mark("drive_end") or recording.last_t, recording.killed)
    return TrajectoryEvidence(
        **vars(gather_harness(recording, manifest, drive, recorder)),
        began=any(one.state == "admitted" for one in recording.states),
        failure=recording.marks["failed"].why if "failed" in recording.marks else None,
    )
