"""Sessions sampled by the engine: on threads of its own (isolated), or on the scheduler's thread (inline).

Inline exists to show what isolation is worth: each read holds up everything that the scheduler does.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeVar

from perfq.profile.trajectory.profile import SamplingOptions
from perfq.trajectory.clock import Clock
from perfq.trajectory.sampling import Drained, NoSampling, Sampling
from perfq.trajectory.waits import PauseRefused

if TYPE_CHECKING:
    from perfq._core import Sampler

_T = TypeVar("_T")

#: Between two questions whether a read has returned. It is short, since a session's next step waits for the answer.
_ASK_EVERY_S: Final = 0.002
UNKNOWN_PLACE: Final = "neither a cgroup of its own nor a process is known of it: it was not sampled"


@contextlib.asynccontextmanager
async def engine_sampling(options: SamplingOptions, file: Path, clock: Clock) -> AsyncIterator[Sampling]:
    """As the profile asks; samples go to `file`. OSError where that cannot be created."""
    if options.mode == "off":
        yield NoSampling()
        return
    from perfq import _core

    sampler = _core.Sampler.start(
        {
            "path": str(file),
            "mode": options.mode,
            "workers": options.workers,
            "delay_after_ms": options.delay_after_ms,
            "drain_timeout_ms": options.drain_timeout_ms,
            "sources": list(options.sources),
            "inject_read_delay_ms": options.inject_read_delay_ms,
        }
    )
    sampling = InlineSampling(sampler, clock) if options.mode == "inline" else EngineSampling(sampler)
    try:
        yield sampling
    finally:
        # It waits for reads that hang, which must not hold up what else is being ended.
        await asyncio.to_thread(sampler.close)


class EngineSampling:
    """Isolated: the engine reads whenever it is time; here it is only told and asked."""

    def __init__(self, sampler: Sampler) -> None:
        self.sampler = sampler
        #: Why a session is not sampled.
        self._not_sampled: dict[int, str] = {}

    def attach(self, n: int, place: Mapping[str, object]) -> None:
        """A session of which nothing can be read is remembered: its audit is then unknown."""
        self.due_of(n, place)

    def due_of(self, n: int, place: Mapping[str, object]) -> int | None:
        """Attaches it; when its first sample is due, ns. None: it has none."""
        pid, folders = place.get("pid"), place.get("cgroups")
        cgroup = sorted({str(folder) for folder in folders.values()}) if isinstance(folders, Mapping) else None
        if not isinstance(pid, int) and not cgroup:
            self._not_sampled[n] = UNKNOWN_PLACE
            return None
        try:
            return self.sampler.attach(n, pid=pid if isinstance(pid, int) else None, cgroup=cgroup or None)
        except OSError as error:
            self._not_sampled[n] = f"it could not be sampled: {error}"
            return None

    async def pause(self, n: int) -> None:
        """PauseRefused where a read of it does not return."""
        if n in self._not_sampled:
            return
        said = await _until(lambda: self.sampler.pause(n, wait_ms=0), lambda one: one["acknowledged"] or one["leaked"])
        if not said["acknowledged"]:
            raise PauseRefused("a read of its sampler does not return")

    async def resume(self, n: int) -> None:
        """The next sample comes a period later."""
        if n not in self._not_sampled:
            self.sampler.resume(n)

    async def drain(self, n: int) -> Drained:
        """The kernel's totals are read after its last sample."""
        if (why := self._not_sampled.get(n)) is not None:
            return Drained(None, why)
        end = await _until(lambda: self.sampler.drain(n, wait_ms=0), lambda one: one["outcome"] is not None)
        evidence = f"{end['taken']} of {end['due']} due samples" + (f"; {end['why']}" if end["why"] else "")
        last = next((one["t"] for one in self.sampler.last_samples() if one["session"] == n), None)
        return Drained(end["outcome"] != "leaked", evidence, end["stopped"] or 0, last)


class InlineSampling(EngineSampling):
    """Inline: a task a session, each read on the thread of the scheduler."""

    def __init__(self, sampler: Sampler, clock: Clock) -> None:
        super().__init__(sampler)
        self._clock = clock
        self._tasks: dict[int, asyncio.Task[None]] = {}

    def attach(self, n: int, place: Mapping[str, object]) -> None:
        """And begins to read."""
        self._go_on(n, self.due_of(n, place))

    async def pause(self, n: int) -> None:
        """No read can be under way: they hold the thread that this runs on."""
        self._stand_still(n)
        await super().pause(n)

    async def resume(self, n: int) -> None:
        """Reads again."""
        if n not in self._not_sampled:
            self._go_on(n, self.sampler.resume(n))

    async def drain(self, n: int) -> Drained:
        """And reads no more."""
        self._stand_still(n)
        return await super().drain(n)

    def _go_on(self, n: int, due_ns: int | None) -> None:
        if due_ns is not None:
            self._tasks[n] = asyncio.create_task(self._read(n, due_ns), name=f"sampling-{n}")

    def _stand_still(self, n: int) -> None:
        if (task := self._tasks.pop(n, None)) is not None:
            task.cancel()

    async def _read(self, n: int, due_ns: int) -> None:
        due: int | None = due_ns
        while due is not None:
            await self._clock.sleep_until(due)
            due = self.sampler.sample(n)


async def _until(ask: Callable[[], _T], settled: Callable[[_T], object]) -> _T:
    """Asks until it is settled; the engine settles it by its own timeout."""
    while not settled(said := ask()):
        await asyncio.sleep(_ASK_EVERY_S)
    return said
