"""Whole runs of plans on this machine, in folders of one test's own, and what is left of them."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from perfq.trajectory.cgroup import places
from perfq.trajectory.engine_sampling import engine_sampling
from perfq.trajectory.ground import ground, refuse
from perfq.trajectory.local.processes import Owner, belonging
from perfq.trajectory.places import Place
from perfq.trajectory.plan import SessionPlan
from perfq.trajectory.run import Outcome, run
from perfq.trajectory.session import Write

Lines = list[dict[str, Any]]


@dataclass
class Played:
    """What came of a run."""

    outcome: Outcome
    left: list[str]
    said: list[str]


async def played(
    planned: SessionPlan,
    place: Place,
    write: Write,
    stop: asyncio.Event,
    samples: Path | None = None,
) -> Played:
    """As the command runs it."""
    said: list[str] = []
    async with contextlib.AsyncExitStack() as stack:
        setting = await stack.enter_async_context(ground(planned, place, write, said.append))
        if samples is not None:
            sampler = engine_sampling(planned.profile.sampling, samples, setting.clock)
            setting = replace(setting, sampling=await stack.enter_async_context(sampler))
        outcome = await run(planned, setting, stop)
    return Played(outcome, [one.name for one in place.close()], said)


@dataclass
class Runs:
    """Runs in folders of one test's own."""

    top: Path
    lines: Lines = field(default_factory=list)
    #: Where samples go; None: nothing is sampled.
    samples: Path | None = None

    def play(self, planned: SessionPlan, stop_when: Callable[[], bool] | None = None, allowed: bool = False) -> Played:
        """Until it ends, or until `stop_when` holds."""
        refuse(planned, allowed)
        place = Place.of("test")
        self.lines = []

        async def go() -> Played:
            stop = asyncio.Event()

            async def watch() -> None:
                try:
                    while stop_when is not None and not stop_when():
                        await asyncio.sleep(0.005)
                finally:
                    if stop_when is not None:
                        stop.set()

            watching = asyncio.create_task(watch())
            try:
                return await played(planned, place, self.lines.append, stop, self.samples)
            finally:
                if watching.done():
                    watching.result()
                watching.cancel()

        return asyncio.run(go())

    def of(self, kind: str) -> Lines:
        return [line for line in self.lines if line["k"] == kind]

    def audits(self, status: str) -> list[tuple[int | None, str]]:
        return [(line["n"], line["name"]) for line in self.of("tj_audit") if line["status"] == status]

    @property
    def names(self) -> list[str]:
        """Of the runs whose journals are there."""
        return [path.stem for path in self.top.glob("perfq-sessions-*/*.journal")]

    def groups(self) -> list[Path]:
        """Folders of this test's runs in the machine's cgroups."""
        tops = {one.folder for one in places.own().values()}
        return [folder for top in tops for name in self.names for folder in top.glob(f"perfq-{name}")]

    def frozen(self) -> bool:
        """Whether a session of this test is."""
        found = [path for top in self.groups() for path in top.glob("session-*")]
        states = [path / "freezer.state" for path in found] + [path / "cgroup.events" for path in found]
        return any({"FROZEN", "frozen 1"} & set(path.read_text().splitlines()) for path in states if path.exists())

    def left(self) -> list[object]:
        """Processes, cgroups and workspaces."""
        markers = [f"PERFQ_SESSION={name}/{n}" for name in self.names for n in range(60)]
        found: list[object] = [one for marker in markers for one in belonging(Owner(marker))]
        return [*found, *self.groups(), *self.top.glob("perfq-sessions-*/*")]
