"""When a run ended, told as a time of day."""

from __future__ import annotations

import datetime

from perfq.measure.manifest import Manifest
from perfq.measure.phases import SECOND


def finished_at(manifest: Manifest, last_t: int | None) -> str:
    """The instant of the last sample (monotonic ns) as RFC 3339, UTC; the start where there is none."""
    anchor = manifest.anchor
    wall = anchor.wall_ns + (last_t or anchor.mono_ns) - anchor.mono_ns
    return datetime.datetime.fromtimestamp(wall / SECOND, datetime.UTC).isoformat(timespec="milliseconds")
