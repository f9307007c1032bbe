"""Replayed sessions of several runs: the medians of each side, what the sides differ in, and why they may not be
compared. Pure functions of the results."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from perfq.measure.result import Result
from perfq.measure.result.trajectory import Trajectory
from perfq.measure.trajectory.facts import SessionFacts
from perfq.measure.wording import duration, number, size

#: Below this many runs a side, a difference may be chance.
RUNS_NEEDED: Final = 3


@dataclass(frozen=True)
class Side:
    """One or more runs under the same conditions; results of replayed sessions, at least one."""

    name: str
    results: Sequence[Result]

    @property
    def facts(self) -> SessionFacts:
        """What the first was held to."""
        facts = self.results[0].manifest.sessions
        assert facts is not None
        return facts

    @property
    def blocks(self) -> list[Trajectory]:
        """Of each run."""
        return [one.trajectory for one in self.results if one.trajectory is not None]

    @property
    def median(self) -> Trajectory:
        """Each figure's median over the runs that have it; true only where all are."""
        blocks = self.blocks
        return blocks[0] if len(blocks) == 1 else Trajectory.from_plain(_median([one.plain() for one in blocks]))


def _median(values: Sequence[Any]) -> Any:
    known = [value for value in values if value is not None]
    if not known:
        return None
    first = known[0]
    if isinstance(first, dict):
        return {key: _median([value.get(key) for value in known]) for key in first}
    if isinstance(first, bool):
        return all(known)
    if isinstance(first, int):
        return round(statistics.median(known))
    if isinstance(first, float):
        return float(statistics.median(known))
    return []  # lists are of one run alone


#: What a run is held to, how it is called, and how its value is told.
_CONDITIONS: Final[tuple[tuple[str, str, Callable[[Any], str]], ...]] = (
    ("backend", "backend", str),
    ("sampling", "sampling", str),
    ("sampling_workers", "sampler's threads", number),
    ("sampling_delay_after_ns", "time between samples", duration),
    ("inject_read_delay_ns", "delay added to each read", duration),
    ("wait_mode", "waits", str),
    ("sessions", "sessions", number),
    ("arrivals", "arrivals", str),
    ("last_arrival_ns", "last arrival", duration),
    ("budget_bytes", "memory budget", lambda value: "none" if value is None else size(value)),
    ("headroom_bytes", "headroom", size),
    ("max_concurrent", "sessions at once", lambda value: "any number" if value is None else number(value)),
    ("launch_interval_ns", "time between starts", duration),
    ("timeout_ns", "command timeout", duration),
    ("term_grace_ns", "grace before SIGKILL", duration),
)


def differences(sides: Sequence[Side]) -> list[str]:
    """`sampling: isolated | off`: one line for each condition that is not the same on all sides."""
    found = []
    for field, name, told in _CONDITIONS:
        values = [told(getattr(side.facts, field)) for side in sides]
        if len(set(values)) > 1:
            found.append(f"{name}: {' | '.join(values)}")
    return found


def why_not(sides: Sequence[Side]) -> list[str]:
    """Each reason for which the sides may not be compared; empty where there is none."""
    return [*_work(sides), *_timeouts(sides), *_validity(sides), *_machine(sides), *_runs(sides)]


def _work(sides: Sequence[Side]) -> Iterator[str]:
    if len({side.facts.work_sha256 for side in sides}) > 1:
        yield "other work: the sessions are not the same commands and waits"
    for side in sides:
        for result, block in zip(side.results, side.blocks, strict=True):
            lacking = block.commands.planned - block.commands.completed
            if lacking:
                yield (
                    f"other work: {number(lacking)} of {number(block.commands.planned)} commands of {result.run_id} "
                    + ("did not complete")
                )


def _timeouts(sides: Sequence[Side]) -> Iterator[str]:
    limits = [(side.facts.timeout_ns, side.facts.term_grace_ns) for side in sides]
    if len(set(limits)) > 1:
        told = " | ".join(f"{duration(timeout)} and {duration(grace)} of grace" for timeout, grace in limits)
        yield f"other timeouts: {told}"
    for side in sides:
        if len({one.manifest.sessions.plan_sha256 for one in side.results if one.manifest.sessions is not None}) > 1:
            yield f"the runs of {side.name} are not of one plan"


def _validity(sides: Sequence[Side]) -> Iterator[str]:
    for side in sides:
        for one in side.results:
            if one.verdict.status in ("INVALID", "ABORTED"):
                why = f": {one.verdict.reasons[0]}" if one.verdict.reasons else ""
                yield f"{one.run_id} is {one.verdict.status}{why}"


def _machine(sides: Sequence[Side]) -> Iterator[str]:
    hosts = {
        (
            one.manifest.host.cpu,
            one.manifest.host.cpus_allowed,
            one.manifest.host.kernel,
            one.manifest.host.memory_bytes,
        )
        for side in sides
        for one in side.results
    }
    if len(hosts) > 1:
        yield "other machines: CPU, kernel, memory or the CPUs that were allowed differ"
    versions = {(one.manifest.perfq.version, one.manifest.perfq.commit) for side in sides for one in side.results}
    if len(versions) > 1:
        yield "other versions of perfq"


def _runs(sides: Sequence[Side]) -> Iterator[str]:
    least = min(len(side.results) for side in sides)
    if least == 1:
        yield "one run each: without a spread a difference may be chance"
    elif least < RUNS_NEEDED:
        yield f"{least} runs each: at least {RUNS_NEEDED} show a spread"
