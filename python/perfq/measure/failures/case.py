"""What a predicate may look at."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from perfq.measure.backlog import Depths
from perfq.measure.phases import Timeline
from perfq.measure.recording import Recording
from perfq.measure.replay_samples import Request
from perfq.measure.result.replay import Digests


@dataclass(frozen=True)
class Case:
    """One injected failure of a run. `input` holds (instant of the key, ns)."""

    recording: Recording
    kind: str
    injected: int
    ended: int | None
    t0: int
    churn_end: int
    timeline: Timeline
    relists: int
    digests: Digests
    depths: Depths | None
    input: Sequence[tuple[int, int]]

    def requests(self, group: str, kind: str) -> list[Request]:
        """LISTs (a chain of pages counts once) and WATCHes of a kind, in order of time."""
        return [
            one
            for one in self.recording.requests
            if one.group == group
            and one.kind == kind
            and one.verb in ("list", "watch")
            and (one.verb == "watch" or one.first_page)
        ]
