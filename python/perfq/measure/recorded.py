"""A run as it was recorded: every figure of the result, before anything is judged."""

from __future__ import annotations

from dataclasses import dataclass

from perfq.measure.evidence import Evidence
from perfq.measure.manifest import Manifest
from perfq.measure.result.allocations import Allocations
from perfq.measure.result.common import Api, Latency, LatencyName, ManifestPart, Processes, ResultWarning
from perfq.measure.result.replay import Replay


@dataclass(frozen=True)
class Recorded:
    """What `fold` gives and judging takes."""

    manifest: Manifest
    part: ManifestPart
    latency: dict[LatencyName, Latency | None]
    process: Processes
    api: Api
    replay: Replay
    warnings: tuple[ResultWarning, ...]
    evidence: Evidence
    allocations: Allocations | None = None
