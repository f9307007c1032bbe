"""One run of sessions: start the parts, run the plan on the event loop, stop what has to be stopped.

Nothing is judged here: all that was seen is in samples.ndjson and the manifest when this returns.
"""

from __future__ import annotations

import asyncio
import contextlib
import gc
import json
import time
from collections.abc import AsyncIterator, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from perfq.drive.journal import Journal
from perfq.drive.outcome import could_not_start
from perfq.drive.session import Session
from perfq.drive.stop import Reading, Stop, check
from perfq.measure.trajectory.resources import FILE as RESOURCES
from perfq.trajectory.engine_sampling import engine_sampling
from perfq.trajectory.ground import ground
from perfq.trajectory.run import Outcome, Setting, run
from perfq.trajectory.tally import Tally

if TYPE_CHECKING:
    from perfq._core import Recorder, RecorderStatus, TreeSampler
    from perfq.drive.progress import Progress
    from perfq.drive.rundir import RunDirectory
    from perfq.drive.signals import Interruption
    from perfq.trajectory.options import TrajectoryOptions
    from perfq.trajectory.places import Place

_TICK_S: Final = 0.1
#: Between two readings of the sessions' memory, for the progress line.
_LOOK_S: Final = 0.5
SAMPLE_EVERY_MS: Final = 250


def drive(
    options: TrajectoryOptions, directory: RunDirectory, place: Place, progress: Progress, interruption: Interruption
) -> RecorderStatus:
    """Runs the plan to its end and stops all its parts; gives what became of the record.

    InvalidRun (4) where it could not begin. How it went after that is in the samples alone.
    """
    try:
        with _Parts(options, directory, place) as parts:
            try:
                with _settled_heap():
                    asyncio.run(parts.run(progress, interruption))
            finally:
                progress.close()
    except OSError as error:
        raise could_not_start(error) from error
    return parts.recorder.status()


@contextlib.contextmanager
def _settled_heap() -> Iterator[None]:
    """What was imported and planned before the run stays, and no collection goes through it meanwhile.

    That would hold up the scheduler for tens of milliseconds.
    """
    gc.collect()
    gc.freeze()
    try:
        yield
    finally:
        gc.unfreeze()


class _Parts(Session):
    """Everything that runs during a run."""

    recorder: Recorder
    journal: Journal
    #: Of perfq itself; what the sessions use is sampled apart.
    sampler: TreeSampler

    def __init__(self, options: TrajectoryOptions, directory: RunDirectory, place: Place) -> None:
        super().__init__()
        self._options = options
        self._directory = directory
        self._place = place

    def open(self) -> None:
        """The recorder first: it has the last word of all others."""
        from perfq import _core

        self.recorder = _core.Recorder(self._directory.path / "samples.ndjson")
        self.stack.callback(self.recorder.close)
        self.journal = Journal(self.recorder)
        self.journal.mark("start")
        self.sampler = _core.TreeSampler.start(
            {"recorder": self.recorder, "interval_ms": SAMPLE_EVERY_MS, "trees": [], "self": "harness"}
        )
        self.stack.callback(self.sampler.stop)

    async def run(self, progress: Progress, interruption: Interruption) -> None:
        """Sweeps what earlier runs left, then runs the plan."""
        plan = self._options.plan
        count = len(plan.sessions)
        progress.say(f"{count:,} session{'s' if count != 1 else ''} of {plan.profile.name}")
        tally = Tally(plan, lambda line: self.recorder.write(json.dumps(line)))

        def say(sentence: str) -> None:
            progress.say(f"perfq: {sentence}")
            tally.write({"k": "tj_note", "t": time.monotonic_ns(), "text": sentence})

        stop = asyncio.Event()
        async with (
            ground(plan, self._place, tally.write, say) as setting,
            engine_sampling(plan.profile.sampling, self._directory.path / RESOURCES, setting.clock) as sampling,
            self._watched(tally, setting, stop, progress, interruption),
        ):
            outcome = await self._outcome(replace(setting, sampling=sampling), stop)
        self.journal.mark("drive_end")
        if outcome is not None and outcome.stopped is not None and not stop.is_set():
            self.journal.stop(Stop("admission", outcome.stopped))
        self.journal.mark("end")

    async def _outcome(self, setting: Setting, stop: asyncio.Event) -> Outcome | None:
        """None where the system refused what the scheduler itself needs; the record says it."""
        try:
            return await run(self._options.plan, setting, stop)
        except OSError as error:
            self.journal.mark("failed", why=f"the system refused what the scheduler needs: {error}")
            return None

    @contextlib.asynccontextmanager
    async def _watched(
        self, tally: Tally, setting: Setting, stop: asyncio.Event, progress: Progress, interruption: Interruption
    ) -> AsyncIterator[None]:
        """Progress, signals and stop conditions, ten times a second beside the block."""

        budget = self._options.plan.profile.admission.budget_bytes
        memory: list[int | None] = [None]

        async def look() -> None:
            """A cgroup may be slow to read: not on the scheduler's thread."""
            while True:
                await asyncio.sleep(_LOOK_S)
                memory[0] = await asyncio.to_thread(setting.usage)

        async def watch() -> None:
            while True:
                await asyncio.sleep(_TICK_S)
                progress.update(tally.status(time.monotonic_ns(), memory[0], budget))
                if not stop.is_set() and (why := self._asked_to_end(tally, interruption)) is not None:
                    self.journal.stop(why)
                    stop.set()

        beside = [asyncio.create_task(one) for one in (look(), watch())]
        try:
            yield
        finally:
            for task in beside:
                task.cancel()
            for task in beside:
                with contextlib.suppress(asyncio.CancelledError):
                    await task

    def _asked_to_end(self, tally: Tally, interruption: Interruption) -> Stop | None:
        if interruption.requested:
            return Stop(str(interruption.signal), interruption.figure)
        trees = self.sampler.progress()["trees"]
        reading = Reading(
            lag_max_ns=tally.late_max_ns,
            requests=tally.commands,
            errors=tally.commands_failed,
            throttled=0,
            harness_rss_bytes=next((tree["rss"] for tree in trees if tree["who"] == "harness"), None),
            late="a session arrived",
            what="commands",
        )
        return check(self._options.limits, reading)
