"""SIGINT and SIGTERM: the first asks for an orderly end, the second leaves at once."""

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


class Interruption:
    """Whether, and by which signal, the run was asked to end.

    Without a lock: a handler runs between any two steps of the main thread, also while that holds the lock
    of an Event which the handler would then wait for without end.
    """

    def __init__(self) -> None:
        self.signal: str | None = None

    def set(self, name: str) -> None:
        """Notes the signal; the first one counts."""
        if self.signal is None:
            self.signal = name

    @property
    def requested(self) -> bool:
        """True once a signal has come."""
        return self.signal is not None

    def wait(self, seconds: float) -> bool:
        """Waits for at most that long; True soon (50 ms) after a signal has come."""
        end = time.monotonic() + seconds
        while not self.requested and (left := end - time.monotonic()) > 0:
            time.sleep(min(left, _SLICE_S))
        return self.requested


@contextmanager
def interruption(leave: Callable[[], None] = lambda: None) -> Iterator[Interruption]:
    """Handles SIGINT and SIGTERM while the block runs.

    The first signal sets the yielded Interruption. The second calls `leave` (which prints what is
    left to do) and ends the process with 130, without unwinding.
    """
    state = Interruption()

    def handle(number: int, _frame: FrameType | None) -> None:
        if state.requested:
            leave()
            sys.stderr.flush()
            os._exit(130)
        state.set(signal.Signals(number).name)

    if threading.current_thread() is not threading.main_thread():
        yield state
        return
    before = {number: signal.signal(number, handle) for number in _HANDLED}
    try:
        yield state
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
