"""How many workers and connections a load should have, and what to say where it has others.

The rules are kperf's recommendation for replays: workers = ⌊qps/10⌋ + 10, connections = min(⌊qps/100⌋ + 5, 50),
from each runner's own requests a second. A worker is a request in flight.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

MAX_CONNECTIONS_PER_RUNNER: Final = 50
MAX_CONNECTIONS: Final = 1_000


class Recommended(NamedTuple):
    """For one runner."""

    workers: int
    connections: int


@dataclass(frozen=True, slots=True)
class RunnerLoad:
    """What one runner is to do, and with what. `qps` None: a closed loop, which has no rate to judge by."""

    index: int
    qps: float | None
    workers: int
    connections: int


class Advice(NamedTuple):
    """A warning of the plan."""

    code: str
    text: str
    advice: str


def recommended(qps: float) -> Recommended:
    """For a runner that sends so many requests a second."""
    return Recommended(int(qps / 10) + 10, min(int(qps / 100) + 5, MAX_CONNECTIONS_PER_RUNNER))


def connection_advice(runners: Sequence[RunnerLoad]) -> list[Advice]:
    """What is worth a warning: each rule once, with the runner that is furthest from it."""
    found = []
    most = max(runners, key=lambda runner: runner.connections, default=None)
    if most is not None and most.connections > MAX_CONNECTIONS_PER_RUNNER:
        text = f"runner {most.index} has {most.connections} connections"
        advice = f"at most {MAX_CONNECTIONS_PER_RUNNER} for a runner; HTTP/2 carries many requests on each"
        found.append(Advice("connections_per_runner", text, advice))
    overall = sum(runner.connections for runner in runners)
    if overall > MAX_CONNECTIONS:
        text = f"{len(runners)} runners have {overall} connections in all"
        advice = f"at most {MAX_CONNECTIONS}, so that the load is one of requests and not of connections"
        found.append(Advice("connections_in_all", text, advice))
    paced = [runner for runner in runners if runner.qps is not None]
    for what in ("workers", "connections"):
        worst = max(paced, key=lambda runner: _shortfall(runner, what), default=None)
        if worst is not None and _shortfall(worst, what) > 0:
            has, wanted = getattr(worst, what), getattr(recommended(worst.qps or 0), what)
            named = what if has != 1 else what.removesuffix("s")
            text = f"runner {worst.index} has {has} {named} for {worst.qps:g} requests/s"
            advice = f"{wanted} or more; with fewer, slow answers hold the load back (slot_wait)"
            found.append(Advice(f"few_{what}", text, advice))
    return found


def _shortfall(runner: RunnerLoad, what: str) -> int:
    return int(getattr(recommended(runner.qps or 0), what)) - int(getattr(runner, what))
