"""What a segment will send, counted before anything is sent: for `load check`, `load plan` and the requested rate."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from perfq import _core


@dataclass(frozen=True, slots=True)
class RunnerPlan:
    """One runner's part."""

    index: int
    #: Requests, watches with them; None where only time ends a closed loop.
    requests: int | None
    #: The end after T0; None in a closed loop.
    end_us: int | None


@dataclass(frozen=True, slots=True)
class MixPlan:
    """The parts of all runners of this process."""

    runners: tuple[RunnerPlan, ...]

    @property
    def requests(self) -> int | None:
        """Of all runners."""
        counts = [runner.requests for runner in self.runners]
        return None if None in counts else sum(count for count in counts if count is not None)

    @property
    def end_us(self) -> int | None:
        """Of the runner that ends last."""
        return max((runner.end_us for runner in self.runners if runner.end_us is not None), default=None)


def plan_mix(mix: dict[str, Any], *, runners: int, runner_index: int | None = None) -> MixPlan:
    """Counts a MixSpec's requests for all runners, or for one of them.

    Constant arrivals are computed, Poisson arrivals are drawn.
    """
    generator = _core.Mix(json.dumps(mix))
    wanted = range(runners) if runner_index is None else (runner_index,)
    return MixPlan(tuple(RunnerPlan(index, *generator.plan(index)) for index in wanted))
