"""With how many runners, connections and requests in flight an input is sent."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from perfq.errors import UsageError
from perfq.measure.load.manifest import Accept, Protocol


@dataclass(frozen=True)
class Runners:
    """How many there are, and which of them this is (None: all)."""

    count: int
    index: int | None = None

    @property
    def here(self) -> int:
        """How many run in this process."""
        return self.count if self.index is None else 1


@dataclass(frozen=True)
class Shape:
    """What flags say over what an input says. None: as the input has it, else as its rate asks for."""

    runners: int | None = None
    runner_index: int | None = None
    connections: int | None = None
    in_flight: int | None = None
    protocol: Protocol | None = None
    accept: Accept | None = None

    @classmethod
    def of(cls, given: Mapping[str, Any]) -> Shape:
        """What the flags say."""
        return cls(**{name: given[name] for name in cls.__dataclass_fields__})

    def runners_of(self, own: int | None) -> Runners:
        """The runners, where the input itself asks for so many. UsageError where the index is none of them."""
        count = self.runners or own or 1
        if self.runner_index is not None and self.runner_index >= count:
            are = "is 1 runner" if count == 1 else f"are {count} runners"
            raise UsageError(f"--runner-index: got {self.runner_index}, expected 0 to {count - 1}: there {are}")
        return Runners(count, self.runner_index)
