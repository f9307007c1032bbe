"""Allocation growth of the client itself, in a run that traces it: begun once populated, reported off its loop."""

from __future__ import annotations

import threading

from perfq.probe import AllocationGrowth, Probe

__all__ = ["EVERY_SECONDS", "AllocationReport"]

EVERY_SECONDS = 5.0


class AllocationReport:
    """A thread that reports every EVERY_SECONDS and at the end; none where nothing is traced."""

    def __init__(self, probe: Probe) -> None:
        self._growth = AllocationGrowth(probe)
        self._ended = threading.Event()
        self._thread: threading.Thread | None = None
        self._lock = threading.Lock()

    def begin(self) -> None:
        """The client is populated. From any thread; the first call counts."""
        with self._lock:
            if self._thread is None and self._growth.active:
                self._thread = threading.Thread(target=self._run, name="allocations", daemon=True)
                self._thread.start()

    def end(self) -> None:
        """Waits for the last report."""
        self._ended.set()
        with self._lock:
            thread = self._thread
        if thread is not None:
            thread.join()

    def _run(self) -> None:
        self._growth.begin()
        while not self._ended.wait(EVERY_SECONDS):
            self._growth.report()
        self._growth.report()
