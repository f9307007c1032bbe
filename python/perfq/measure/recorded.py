"""A run as it was recorded: every figure of the result, before anything is judged."""

from __future__ import annotations

from dataclasses import dataclass

from perfq.measure.document import Document
from perfq.measure.harness import HarnessEvidence
from perfq.measure.manifest import Manifest
from perfq.measure.result import Result
from perfq.measure.result.common import Api, Latency, LatencyName, ManifestPart, Processes, ResultWarning


@dataclass(frozen=True, kw_only=True)
class Recorded:
    """What `fold` gives and judging takes; each kind of run adds its block."""

    manifest: Manifest
    part: ManifestPart
    latency: dict[LatencyName, Latency | None]
    process: Processes
    api: Api | None
    warnings: tuple[ResultWarning, ...]
    evidence: HarnessEvidence

    def blocks(self) -> dict[str, Document]:
        """The blocks of this kind of run, by their name in the result."""
        return {}

    def model(self) -> type[Result]:
        """What the result is: the model that has these blocks."""
        from perfq.measure.result.whole import WholeResult

        return WholeResult

    def extra_files(self) -> dict[str, str]:
        """Files that come of the record beside the result: name → text."""
        return {}
