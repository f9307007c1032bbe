"""The event loop of a run: sessions arrive when they are meant to, wait for admission, and live.

It judges nothing and prints nothing: it writes the record, and gives back what became of each session.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable, Coroutine
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any, Final

from perfq.errors import UsageError
from perfq.trajectory.admission import Admission, Admitted, Limits
from perfq.trajectory.clock import Clock
from perfq.trajectory.delay import probe
from perfq.trajectory.finishing import finish
from perfq.trajectory.lived import Lived, Stamps
from perfq.trajectory.plan import Session, SessionPlan
from perfq.trajectory.sampling import NoSampling, Sampling
from perfq.trajectory.session import Around, Backend, Write, live

_MS: Final = 1_000_000
#: Between two readings of the memory in use while the head waits for it.
_LOOK_NS: Final = 250 * _MS
#: How long the head may wait for memory that no session of the run holds.
STUCK_NS: Final = 60_000 * _MS


@dataclass(frozen=True)
class Setting:
    """What a plan is run in."""

    clock: Clock
    backend: Backend
    write: Write
    #: Memory in use by the sessions, bytes; None: it is not known.
    usage: Callable[[], int | None] = lambda: None
    stuck_ns: int = STUCK_NS
    sampling: Sampling = field(default_factory=NoSampling)


@dataclass
class Outcome:
    """What became of a run."""

    began_ns: int
    ended_ns: int
    sessions: list[Lived]
    peak_concurrency: int
    #: Why it was stopped before its end; None: it was not.
    stopped: str | None


@dataclass
class _Run:
    plan: SessionPlan
    setting: Setting
    admission: Admission
    around: Around
    t0: int
    lived: dict[int, Lived] = field(default_factory=dict)
    tasks: dict[int, asyncio.Task[None]] = field(default_factory=dict)
    #: Something has changed that may let the head start.
    changed: asyncio.Event = field(default_factory=asyncio.Event)
    arrived_all: bool = False
    peak: int = 0

    def state(self, n: int, state: str) -> None:
        self.setting.write({"k": "tj_state", "t": self.setting.clock.now_ns(), "n": n, "state": state})

    async def arrivals(self) -> None:
        """Never later because another session is slow."""
        clock = self.setting.clock
        ordered = sorted(self.plan.sessions, key=lambda one: (one.arrival_ms, one.n))
        for arrival_ms, wave in groupby(ordered, key=lambda one: one.arrival_ms):
            intended = self.t0 + arrival_ms * _MS
            await clock.sleep_until(intended)
            arrived = list(wave)
            # All of a wave are let in before anything is written: the last would be late by what that takes.
            for session in arrived:
                now = clock.now_ns()
                self.lived[session.n] = Lived(session, Stamps(intended, now))
                self.admission.submit(session.n, now)
            for session in arrived:
                self.state(session.n, "queued")
            self.changed.set()
        self.arrived_all = True
        self.changed.set()

    async def admit(self) -> str | None:
        """Until all have ended; or why the rest never will."""
        clock, stuck_since = self.setting.clock, None
        while True:
            self.changed.clear()
            while (admitted := self.admission.admit(clock.now_ns(), self.usage())) is not None:
                self.start(admitted)
            self.raise_failure()
            if self.arrived_all and not self.admission.queued and not self.tasks:
                return None
            now = clock.now_ns()
            stuck_since = (stuck_since or now) if self.admission.stuck else None
            if stuck_since is not None and now - stuck_since >= self.setting.stuck_ns:
                return (
                    f"{self.setting.usage()} bytes are in use though no session runs: the budget of "
                    f"{self.admission.limits.budget_bytes} bytes leaves no room for the next one"
                )
            await self.change(now)

    async def change(self, now: int) -> None:
        """Until something has changed, or it is time to look again."""
        timeout_s = None
        if self.admission.blocked == "launch":
            timeout_s = max(0, (self.admission.next_start_ns() or now) - now) / 1e9
        elif self.admission.blocked == "memory" and self.admission.limits.budget_bytes is not None:
            timeout_s = _LOOK_NS / 1e9
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(timeout_s):
                await self.changed.wait()

    def usage(self) -> int | None:
        """Read only where a budget asks for it: a cgroup may be slow to read."""
        return None if self.admission.limits.budget_bytes is None else self.setting.usage()

    def start(self, admitted: Admitted) -> None:
        n = admitted.n
        self.state(n, "admitted")
        self.peak = max(self.peak, self.admission.concurrent)
        self.tasks[n] = asyncio.create_task(self.session(admitted), name=f"session-{n}")

    async def session(self, admitted: Admitted) -> None:
        n = admitted.n

        def ready() -> None:
            self.admission.started(n)
            self.state(n, "running")
            self.changed.set()

        try:
            await live(self.around, self.lived[n], admitted, ready)
        finally:
            self.admission.ended(n)
            self.state(n, "done")
            self.changed.set()

    def raise_failure(self) -> None:
        """A session fails in its record; what is raised here is an error of the harness."""
        for n in [n for n, task in self.tasks.items() if task.done()]:
            self.tasks.pop(n).result()

    async def end(self) -> None:
        """Ends what still lives; each sandbox is closed before this returns, whatever else is cancelled."""
        self.admission.withdraw()
        for task in self.tasks.values():
            task.cancel()
        if self.tasks:
            await asyncio.wait(self.tasks.values())
        for task in self.tasks.values():
            if not task.cancelled():
                task.result()

    def missing(self, why: str) -> None:
        """A session that never started has its line too."""
        for session in self.plan.sessions:
            lived = self.lived.get(session.n)
            if lived is None or lived.stamps.admitted is None:
                lived = self.lived.setdefault(session.n, _unarrived(session, self.t0))
                lived.fate, lived.why = "cancelled", f"it never started: {why}"
                self.setting.write({**lived.record(), "t": self.setting.clock.now_ns()})


def _unarrived(session: Session, t0: int) -> Lived:
    return Lived(session, Stamps(t0 + session.arrival_ms * _MS, None))


async def run(plan: SessionPlan, setting: Setting, stop: asyncio.Event | None = None) -> Outcome:
    """Runs a plan to its end, or until `stop` is set. UsageError (2) for a budget that nothing here can hold it to.

    An error of the harness, or a cancellation, is raised after every session is closed.
    """
    limits = Limits.of(plan.profile)
    if limits.budget_bytes is not None and setting.usage() is None:
        raise UsageError(
            "admission.budget_bytes is set, but the memory in use by the sessions cannot be read here; "
            "leave it out and use admission.max_concurrent"
        )
    profile = plan.profile
    around = Around(
        setting.clock,
        setting.backend,
        setting.write,
        profile.command.timeout_ms,
        profile.wait.mode,
        setting.sampling,
    )
    t0 = setting.clock.now_ns()
    setting.write({"k": "tj_start", "t": t0})
    running = _Run(plan, setting, Admission(limits), around, t0)
    stopped: str | None = None
    async with _background(probe(setting.clock, setting.write)):
        try:
            stopped = await _until_stopped(running, stop)
        finally:
            await finish(running.end())
    if stopped is not None:
        running.missing(stopped)
    return Outcome(t0, setting.clock.now_ns(), [running.lived[n] for n in sorted(running.lived)], running.peak, stopped)


async def _until_stopped(running: _Run, stop: asyncio.Event | None) -> str | None:
    """Why it was stopped; None: all sessions have ended."""
    admitting = asyncio.create_task(running.admit())
    asked = asyncio.create_task((stop or asyncio.Event()).wait())
    async with _background(running.arrivals()) as arriving:
        try:
            waited: set[asyncio.Task[Any]] = {admitting, asked, arriving}
            while not admitting.done() and not asked.done():
                done, _ = await asyncio.wait(waited, return_when=asyncio.FIRST_COMPLETED)
                if arriving in done:
                    waited.discard(arriving)
                    arriving.result()
            return admitting.result() if admitting.done() else "the run was stopped"
        finally:
            for task in (admitting, asked):
                task.cancel()


@contextlib.asynccontextmanager
async def _background(what: Coroutine[Any, Any, None]) -> AsyncIterator[asyncio.Task[None]]:
    """Runs beside the block, and is cancelled at its end."""
    task = asyncio.create_task(what)
    try:
        yield task
    finally:
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task
