"""A planned wait: kept in full, to one absolute deadline, with the sandbox paused in it where that is asked for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from perfq.trajectory.clock import Clock
from perfq.trajectory.finishing import finish


class PauseFailed(Exception):
    """A sandbox was not paused, or not resumed; the message says why."""


class PauseRefused(Exception):
    """A pause is not safe now, and was not begun; the message says why. The wait goes on without it."""


class Pausing(Protocol):
    """A way to pause a sandbox. Its sampler is stopped, and has said so, before; and continued after."""

    async def pause(self) -> None:
        """Returns once it is paused. PauseFailed where it is not, PauseRefused where it was not begun."""
        ...

    async def resume(self) -> None:
        """Returns once it runs again; also where the pause was never finished. PauseFailed where it does not."""
        ...


@dataclass(frozen=True)
class Waited:
    """One wait, as it was. Stamps in ns; None where nothing was paused."""

    step: int
    planned_ns: int
    entered_ns: int
    pause_begin_ns: int | None
    pause_end_ns: int | None
    sleep_begin_ns: int
    due_ns: int
    woken_ns: int
    resume_begin_ns: int | None
    resume_end_ns: int | None
    next_issued_ns: int
    #: Why the pause that was asked for was not begun.
    refused: str | None = None

    @property
    def planned_term_ns(self) -> int:
        """What was slept on purpose, by its two stamps."""
        return self.due_ns - self.sleep_begin_ns

    @property
    def lateness_ns(self) -> int:
        """The timer's."""
        return self.woken_ns - self.due_ns

    @property
    def pause_ns(self) -> int:
        """What pausing took."""
        return (
            0 if self.pause_begin_ns is None or self.pause_end_ns is None else self.pause_end_ns - self.pause_begin_ns
        )

    @property
    def resume_ns(self) -> int:
        """What resuming took."""
        if self.resume_begin_ns is None or self.resume_end_ns is None:
            return 0
        return self.resume_end_ns - self.resume_begin_ns

    @property
    def residual_ns(self) -> int:
        """From the last of it to the next step."""
        return self.next_issued_ns - (self.woken_ns if self.resume_end_ns is None else self.resume_end_ns)

    @property
    def extra_ns(self) -> int:
        """What the harness added to the wait: the sum of the four, each by its own stamps."""
        return self.pause_ns + self.lateness_ns + self.resume_ns + self.residual_ns

    def record(self, n: int) -> dict[str, object]:
        """Its line in the record."""
        return {
            "k": "tj_wait",
            "t": self.next_issued_ns,
            "n": n,
            "step": self.step,
            "planned": self.planned_ns,
            "entered": self.entered_ns,
            "pause_begin": self.pause_begin_ns,
            "pause_end": self.pause_end_ns,
            "sleep_begin": self.sleep_begin_ns,
            "due": self.due_ns,
            "woken": self.woken_ns,
            "resume_begin": self.resume_begin_ns,
            "resume_end": self.resume_end_ns,
            "next_issued": self.next_issued_ns,
            "refused": self.refused,
        }


async def wait(clock: Clock, step: int, planned_ns: int, pausing: Pausing | None = None) -> Waited:
    """Waits. What pausing took is not subtracted; whatever ends the wait, the sandbox runs again before it is left.

    PauseFailed where it cannot be paused or resumed.
    """
    entered = clock.now_ns()
    pause_begin = pause_end = resume_begin = resume_end = None
    sleep_begin, refused = entered, None
    try:
        if pausing is not None:
            pause_begin = clock.now_ns()
            try:
                await pausing.pause()
            except PauseRefused as error:
                refused, pausing = str(error), None
            sleep_begin = pause_end = clock.now_ns()
        due = sleep_begin + planned_ns
        await clock.sleep_until(due)
        woken = clock.now_ns()
    except BaseException:
        if pausing is not None:
            await finish(pausing.resume())
        raise
    if pausing is not None:
        resume_begin = clock.now_ns()
        await finish(pausing.resume())
        resume_end = clock.now_ns()
    return Waited(
        step,
        planned_ns,
        entered,
        pause_begin,
        pause_end,
        sleep_begin,
        due,
        woken,
        resume_begin,
        resume_end,
        clock.now_ns(),
        refused,
    )
