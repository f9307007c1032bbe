"""What an input comes to: segments for the engine, and what can be said of them before anything is sent."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from perfq.measure.load.manifest import InputFacts, SegmentFacts

if TYPE_CHECKING:
    from perfq._core import LoadNeeds

#: Verbs that change nothing.
READS = frozenset({"GET", "LIST", "WATCH"})


@dataclass(frozen=True)
class Remark:
    """Something a person should know of an input before it runs: what was seen, and what helps."""

    text: str
    advice: str | None = None


@dataclass(frozen=True)
class PlannedSegment:
    """One segment: what the engine is told, and the same for the manifest."""

    options: Mapping[str, Any] = field(repr=False)
    facts: SegmentFacts


@dataclass(frozen=True)
class PlannedLoad:
    """An input, checked."""

    facts: InputFacts
    segments: Sequence[PlannedSegment]
    timeout_ms: int
    #: Requests by verb; of a load profile, which draws them, the verbs that may be drawn, without numbers.
    verbs: Mapping[str, int | None]
    remarks: Sequence[Remark] = ()
    #: Of a load profile, which draws its requests.
    seed: int | None = None
    #: The load profile as it was given; it is kept with the run.
    text: str | None = field(default=None, repr=False)
    #: A replay profile, which is made into a trace before it is run.
    replay: Path | None = None
    #: How a file of requests is read and rewritten.
    reading: Mapping[str, Any] = field(default_factory=dict)
    #: What a target must have before they are sent, by kind (`perfq._core.LoadNeeds`); of a list of requests alone.
    needs: LoadNeeds | None = None
    #: It has no end of its own: there are only watches that live as long as the run.
    endless: bool = False

    @property
    def writes(self) -> bool:
        """Whether it changes anything on the server."""
        return any(verb not in READS for verb in self.verbs)

    @property
    def planned(self) -> int | None:
        """Requests in all, warm-ups apart; None where one segment's are not known."""
        counts = [one.facts.planned for one in self.segments if not one.facts.warm_up]
        known = [count for count in counts if count is not None]
        return sum(known) if known and len(known) == len(counts) else None

    @property
    def duration_ns(self) -> int | None:
        """The planned time of all segments; None where one's is not known."""
        times = [one.facts.duration_ns for one in self.segments]
        known = [time for time in times if time is not None]
        return sum(known) if known and len(known) == len(times) else None

    @property
    def requests_file(self) -> Path | None:
        """The file that lists the requests; None where they are drawn."""
        if self.replay is not None:
            return self.replay
        trace = self.segments[0].options["source"].get("trace") if self.segments else None
        return None if trace is None else Path(trace["path"])

    def converted(self, trace: Path) -> PlannedLoad:
        """The same with its requests in another file: the trace that a replay profile was made into."""
        segments = [
            replace(one, options={**one.options, "source": {"trace": {"path": str(trace)}}}) for one in self.segments
        ]
        return replace(self, segments=segments, replay=None)

    def lasting(self, seconds: float) -> PlannedLoad:
        """The same with a planned end."""
        options = {"duration_us": round(seconds * 1e6)}
        return replace(
            self, endless=False, segments=[replace(one, options={**one.options, **options}) for one in self.segments]
        )

    def document(self) -> str:
        """plan.json: the same bytes for the same plan, no run id."""
        plan = {
            "schema": "perfq.load-plan/v1",
            "input": {"kind": self.facts.kind, "sha256": self.facts.sha256},
            "timeout_ms": self.timeout_ms,
            "segments": [_without_path(one.options) for one in self.segments],
        }
        return json.dumps(plan, indent=1, sort_keys=True) + "\n"


def _without_path(options: Mapping[str, Any]) -> dict[str, Any]:
    """Where a trace lies is no part of the plan, nor is what tells one run's names from another's."""
    source = {
        kind: {key: value for key, value in part.items() if key not in ("path", "salt")}
        for kind, part in options["source"].items()
    }
    return {**options, "source": source}
