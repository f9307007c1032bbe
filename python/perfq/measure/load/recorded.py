"""A request load as it was recorded, before anything is judged."""

from __future__ import annotations

from dataclasses import dataclass

from perfq.measure.document import Document
from perfq.measure.load.evidence import LoadEvidence
from perfq.measure.load.manifest import LoadManifest
from perfq.measure.load.recording import LoadRecording
from perfq.measure.recorded import Recorded
from perfq.measure.result import Result
from perfq.measure.result.load import Load
from perfq.measure.result.of_load import LoadResult


@dataclass(frozen=True, kw_only=True)
class LoadRecorded(Recorded):
    """What `fold` gives of a load."""

    manifest: LoadManifest
    evidence: LoadEvidence
    load: Load
    #: The record itself: its histograms hold more than the result's figures.
    recording: LoadRecording

    def blocks(self) -> dict[str, Document]:
        """`load`."""
        return {"load": self.load}

    def model(self) -> type[Result]:
        """That of a load."""
        return LoadResult
