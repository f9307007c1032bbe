"""The terminal driver, with one addition: it tells when what was written has been handed to the terminal.

Textual writes from a thread of its own; "drawn" is not "flushed" until that thread has flushed its file.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from typing import IO, Any

from textual.drivers.linux_driver import LinuxDriver

__all__ = ["FlushLedger", "FrameDriver"]


class FlushLedger:
    """Counts characters queued and flushed, and calls back once a mark is flushed (from any thread)."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._queued = 0
        self._written = 0
        self._flushed = 0
        self._waiting: deque[tuple[int, Callable[[], None]]] = deque()

    def queued(self, characters: int) -> None:
        """So many more were queued for the terminal."""
        with self._lock:
            self._queued += characters

    def written(self, characters: int) -> None:
        """So many more were written to the file, not yet flushed."""
        self._written += characters

    def flushed(self) -> None:
        """All that was written was flushed."""
        with self._lock:
            self._flushed = self._written
            due = []
            while self._waiting and self._waiting[0][0] <= self._flushed:
                due.append(self._waiting.popleft()[1])
        for callback in due:
            callback()

    def when_flushed(self, callback: Callable[[], None]) -> None:
        """Calls back once all that is queued now is flushed; at once where it is."""
        with self._lock:
            if self._flushed < self._queued:
                self._waiting.append((self._queued, callback))
                return
        callback()


class _LedgerFile:
    """The terminal's file, with its writes and flushes in the ledger."""

    def __init__(self, file: IO[str], ledger: FlushLedger) -> None:
        self._file = file
        self._ledger = ledger

    def write(self, text: str) -> int:
        count = self._file.write(text)
        self._ledger.written(len(text))
        return count

    def flush(self) -> None:
        self._file.flush()
        self._ledger.flushed()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._file, name)


class FrameDriver(LinuxDriver):
    """Textual's driver for Linux terminals with a ledger of what was flushed."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.ledger = FlushLedger()
        self._file: Any = _LedgerFile(self._file, self.ledger)

    def write(self, data: str) -> None:
        """Queues text for the terminal."""
        self.ledger.queued(len(data))
        super().write(data)
