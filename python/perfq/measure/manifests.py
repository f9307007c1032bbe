"""manifest.json read back, as the kind of run that it is of."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from perfq.measure.manifest import FILE

if TYPE_CHECKING:
    from pydantic import TypeAdapter

    from perfq.measure.load.manifest import LoadManifest
    from perfq.measure.replay_manifest import ReplayManifest
    from perfq.measure.trajectory.manifest import TrajectoryManifest

    AnyManifest = ReplayManifest | LoadManifest | TrajectoryManifest


def read_manifest(run_dir: Path) -> AnyManifest:
    """manifest.json of a run directory; OSError, ValidationError."""
    text = (run_dir / FILE).read_bytes()
    if _kind_of(text) in ("load", "fleet"):
        # Without those of the other kinds.
        from perfq.measure.load.manifest import LoadManifest

        return LoadManifest.from_json(text)
    return _any().validate_json(text)


def _kind_of(text: bytes) -> object:
    try:
        document = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return document.get("kind") if isinstance(document, dict) else None


@cache
def _any() -> TypeAdapter[AnyManifest]:
    from pydantic import Discriminator, TypeAdapter

    from perfq.measure.load.manifest import LoadManifest
    from perfq.measure.replay_manifest import ReplayManifest
    from perfq.measure.trajectory.manifest import TrajectoryManifest

    return TypeAdapter(Annotated[ReplayManifest | LoadManifest | TrajectoryManifest, Discriminator("kind")])
