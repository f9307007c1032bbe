"""When the load was steady and when it burst: the profile's own schedule, from T0."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

Phase = Literal["steady", "burst"]
SECOND = 1_000_000_000


@dataclass(frozen=True)
class Burst:
    """Begin and end in ns after T0, and events/s."""

    begin: int
    end: int
    rate: int


@dataclass(frozen=True)
class Timeline:
    """The schedule of a run; instants are ns after T0. An extension is steady."""

    steady_rate: int
    seconds: int
    bursts: tuple[Burst, ...]

    @classmethod
    def of(cls, profile: Mapping[str, Any], extended_seconds: int = 0) -> Timeline:
        """Reads a resolved profile, schema version 1."""
        bursts = sorted(profile["bursts"], key=lambda burst: int(burst["start_second"]))
        return cls(
            steady_rate=int(profile["steady_events_per_second"]),
            seconds=int(profile["duration_seconds"]) + extended_seconds,
            bursts=tuple(
                Burst(
                    int(burst["start_second"]) * SECOND,
                    (int(burst["start_second"]) + int(burst["duration_seconds"])) * SECOND,
                    int(burst["events_per_second"]),
                )
                for burst in bursts
            ),
        )

    @property
    def end(self) -> int:
        """The plan's end, ns after T0."""
        return self.seconds * SECOND

    @property
    def events(self) -> int:
        """Planned events: each second at its own rate."""
        in_bursts = sum((burst.end - burst.begin) // SECOND for burst in self.bursts)
        return (self.seconds - in_bursts) * self.steady_rate + sum(
            (burst.end - burst.begin) // SECOND * burst.rate for burst in self.bursts
        )

    def phase(self, at: int) -> Phase:
        """The phase of an instant. What comes before T0 or after the end is steady."""
        index = bisect_right(self.bursts, at, key=lambda burst: burst.begin) - 1
        return "burst" if index >= 0 and at < self.bursts[index].end else "steady"
