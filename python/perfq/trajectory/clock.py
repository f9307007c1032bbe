"""The scheduler's clock: monotonic, ns, and sleep to an absolute time."""

from __future__ import annotations

import asyncio
import time
from typing import Final, Protocol

#: What the loop's waits are rounded up to (epoll_wait, in milliseconds).
_GRAIN_NS: Final = 1_000_000


class Clock(Protocol):
    """What sessions take their stamps from."""

    def now_ns(self) -> int:
        """Now."""
        ...

    async def sleep_until(self, due_ns: int) -> None:
        """Returns at or after that time, never before."""
        ...


class MonotonicClock:
    """CLOCK_MONOTONIC, as the records have it."""

    def now_ns(self) -> int:
        """Now."""
        return time.monotonic_ns()

    async def sleep_until(self, due_ns: int) -> None:
        """Returns at or after that time, by a small part of a millisecond.

        The loop waits in whole milliseconds, rounded up, and its timers may fire a clock tick early: the last
        millisecond is passed turn by turn, in which everybody else has theirs.
        """
        while (left_ns := due_ns - time.monotonic_ns()) > 0:
            await asyncio.sleep(max(0, left_ns - _GRAIN_NS) / 1e9)
