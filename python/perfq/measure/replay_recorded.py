"""A replay as it was recorded, before anything is judged."""

from __future__ import annotations

from dataclasses import dataclass, field

from perfq.measure.document import Document
from perfq.measure.evidence import Evidence
from perfq.measure.recorded import Recorded
from perfq.measure.replay_manifest import ReplayManifest
from perfq.measure.result.allocations import Allocations
from perfq.measure.result.common import Api
from perfq.measure.result.replay import Replay


@dataclass(frozen=True, kw_only=True)
class ReplayRecorded(Recorded):
    """What `fold` gives of a replay."""

    manifest: ReplayManifest
    api: Api
    evidence: Evidence
    replay: Replay
    allocations: Allocations | None = field(default=None)

    def blocks(self) -> dict[str, Document]:
        """`replay`, and `allocations` where they were traced."""
        return {"replay": self.replay, **({} if self.allocations is None else {"allocations": self.allocations})}

    def extra_files(self) -> dict[str, str]:
        """The allocations on their own, where they were traced."""
        return {} if self.allocations is None else {"allocations.json": self.allocations.to_json()}
