"""samples.ndjson and the manifest → everything that a result says, before it is judged.

The same for a run that ended well and for one that was killed. Nothing is guessed: what the record
does not hold is None, and a warning names it.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from perfq.measure.manifests import read_manifest
from perfq.measure.recorded import Recorded

if TYPE_CHECKING:
    from perfq._core import RecorderStatus
    from perfq.measure.load.manifest import LoadManifest
    from perfq.measure.replay_manifest import ReplayManifest
    from perfq.measure.trajectory.manifest import TrajectoryManifest

SAMPLES = "samples.ndjson"


def fold(run_dir: Path, *, recorder: RecorderStatus | None = None) -> Recorded:
    """Reads a run directory. OSError, or msgspec.DecodeError where manifest or samples are none."""
    manifest = read_manifest(run_dir)
    match manifest.kind:
        case "load" | "fleet":
            return _load(run_dir, manifest, recorder)
        case "trajectory":
            return _trajectory(run_dir, manifest, recorder)
    return _replay(run_dir, manifest, recorder)


# Each imports what its kind has: a run of one kind does without the others.


def _load(run_dir: Path, manifest: LoadManifest, recorder: RecorderStatus | None) -> Recorded:
    from perfq.measure.load.fold import fold_load
    from perfq.measure.load.recording import LoadRecording

    warming_up = {number for number, one in enumerate(manifest.segments) if one.warm_up}
    return fold_load(manifest, LoadRecording.load(run_dir / SAMPLES, warming_up), recorder=recorder)


def _trajectory(run_dir: Path, manifest: TrajectoryManifest, recorder: RecorderStatus | None) -> Recorded:
    from perfq.measure.trajectory.fold import fold_trajectory
    from perfq.measure.trajectory.recording import TrajectoryRecording
    from perfq.measure.trajectory.resources import Resources

    recording = TrajectoryRecording.load(run_dir / SAMPLES)
    return fold_trajectory(manifest, recording, Resources.load(run_dir), recorder=recorder)


def _replay(run_dir: Path, manifest: ReplayManifest, recorder: RecorderStatus | None) -> Recorded:
    from perfq.measure.recording import Recording
    from perfq.measure.replay_fold import fold_replay

    return fold_replay(manifest, Recording.load(run_dir / SAMPLES), recorder=recorder)
