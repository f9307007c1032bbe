"""How late the scheduler is: a probe that sleeps 50 ms, over and over, and what came on top, in windows of 10 s.

Exact nearest rank; the p99 of a window that saw fewer than 100 is null.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Final

from perfq import _core
from perfq.trajectory.clock import Clock

PROBE_NS: Final = 50_000_000
WINDOW_NS: Final = 10_000_000_000


class DelayWindows:
    """Delays by window; `write` is given the record of each that is over and saw any."""

    def __init__(self, begin_ns: int, write: Callable[[dict[str, object]], None]) -> None:
        self._begin_ns = begin_ns
        self._write = write
        self._window = 0
        self._delays: list[int] = []

    def add(self, now_ns: int, delay_ns: int) -> None:
        """A delay that was seen now; it counts to the window in which it was seen."""
        window = (now_ns - self._begin_ns) // WINDOW_NS
        if window != self._window:
            self.flush(now_ns)
            self._window = window
        self._delays.append(delay_ns)

    def flush(self, now_ns: int) -> None:
        """The window so far, at the end."""
        if not self._delays:
            return
        figures = _core.quantiles(self._delays)
        seen = {name: figures[name] for name in ("count", "p50", "p99", "max")}
        self._write({"k": "tj_delay", "t": now_ns, "window": self._window, **seen, "delays": self._delays})
        self._delays = []


async def probe(clock: Clock, write: Callable[[dict[str, object]], None]) -> None:
    """Probes until it is cancelled. The next sleep counts from the last waking: one stall is one delay."""
    windows = DelayWindows(clock.now_ns(), write)
    try:
        while True:
            due_ns = clock.now_ns() + PROBE_NS
            await clock.sleep_until(due_ns)
            now_ns = clock.now_ns()
            windows.add(now_ns, now_ns - due_ns)
    except asyncio.CancelledError:
        windows.flush(clock.now_ns())
        raise
