"""manifest.json read back, as the kind of run that it is of."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from perfq.measure.manifest import FILE, Kind

if TYPE_CHECKING:
    from perfq.measure.load.manifest import LoadManifest
    from perfq.measure.replay_manifest import ReplayManifest
    from perfq.measure.trajectory.manifest import TrajectoryManifest

    AnyManifest = ReplayManifest | LoadManifest | TrajectoryManifest


def read_manifest(run_dir: Path) -> AnyManifest:
    """manifest.json of a run directory; OSError, or msgspec.DecodeError where it is none."""
    text = (run_dir / FILE).read_bytes()
    # Each imports its own: a run of one kind does without the others.
    match _kind_of(text):
        case "load" | "fleet":
            from perfq.measure.load.manifest import LoadManifest

            return LoadManifest.from_json(text)
        case "trajectory":
            from perfq.measure.trajectory.manifest import TrajectoryManifest

            return TrajectoryManifest.from_json(text)
        case "replay" | "live":
            from perfq.measure.replay_manifest import ReplayManifest

            return ReplayManifest.from_json(text)


class _Kind(msgspec.Struct):
    kind: Kind


def _kind_of(text: bytes) -> Kind:
    try:
        return msgspec.json.decode(text, type=_Kind).kind
    except RecursionError as error:
        raise msgspec.DecodeError("it is nested too deeply") from error
