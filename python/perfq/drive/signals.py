"""What asks a run to end before it is done: SIGINT and SIGTERM (the first in order, the second at once), and
`--max-time`."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

_HANDLED = (signal.SIGINT, signal.SIGTERM)
_SLICE_S = 0.05
#: What `Interruption.signal` says when `--max-time` is over.
MAX_TIME = "max-time"


class Interruption:
    """Whether, and by what, the run was asked to end: SIGINT, SIGTERM, or max-time.

    Without a lock: a handler runs between any two steps of the main thread, also while that holds the lock
    of an Event which the handler would then wait for without end.
    """

    def __init__(self) -> None:
        self.signal: str | None = None
        self._limit_s: float | None = None
        self._began = 0.0

    def set(self, name: str) -> None:
        """Notes the signal; the first one counts."""
        if self.signal is None:
            self.signal = name

    def limit(self, seconds: float | None) -> None:
        """From now on the run may take so long; None for no limit."""
        self._limit_s, self._began = seconds, time.monotonic()

    @property
    def requested(self) -> bool:
        """True once a signal has come or the time is over."""
        if self.signal is None and self._limit_s is not None and time.monotonic() - self._began > self._limit_s:
            self.set(MAX_TIME)
        return self.signal is not None

    @property
    def figure(self) -> str:
        """What the run was asked by, for its verdict."""
        return f"limit {self._limit_s:g} s" if self.signal == MAX_TIME else "asked to end"

    def wait(self, seconds: float) -> bool:
        """Waits for at most that long; True soon (50 ms) after a signal has come."""
        end = time.monotonic() + seconds
        while not self.requested and (left := end - time.monotonic()) > 0:
            time.sleep(min(left, _SLICE_S))
        return self.requested


@contextmanager
def interruption(leave: Callable[[], int] = lambda: 130) -> Iterator[Interruption]:
    """Handles SIGINT and SIGTERM while the block runs.

    The first signal sets the yielded Interruption. The second calls `leave` (which prints what is
    left to do) and ends the process with the code that it gives, without unwinding.
    """
    state = Interruption()

    signals = {signal.Signals(number).name for number in _HANDLED}

    def handle(number: int, _frame: FrameType | None) -> None:
        if state.signal in signals:
            code = leave()
            sys.stderr.flush()
            os._exit(code)
        state.signal = signal.Signals(number).name

    if threading.current_thread() is not threading.main_thread():
        yield state
        return
    before = {number: signal.signal(number, handle) for number in _HANDLED}
    try:
        yield state
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
