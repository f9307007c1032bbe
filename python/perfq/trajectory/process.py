"""A process is a pid and a start time: a pid alone may belong to another one by the time it is signalled."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

#: proc(5).
PROC = Path("/proc")


@dataclass(frozen=True, order=True)
class Process:
    """One process, for good. `start_ticks` is field 22 of proc(5) stat: clock ticks from boot."""

    pid: int
    start_ticks: int


@dataclass(frozen=True)
class Row:
    """What /proc/PID/stat says of one."""

    process: Process
    state: str
    parent: int
    group: int
    session: int

    @property
    def gone(self) -> bool:
        """It runs no more; its parent has only not asked how it ended."""
        return self.state in "ZXx"


def row(pid: int) -> Row | None:
    """None: there is no such process."""
    try:
        text = (PROC / str(pid) / "stat").read_bytes()
    except OSError:
        return None
    # The name stands in parentheses, and may hold anything but its own end.
    fields = text.rpartition(b")")[2].split()
    return Row(Process(pid, int(fields[19])), fields[0].decode(), int(fields[1]), int(fields[2]), int(fields[3]))


def rows(gone: bool = False) -> Iterator[Row]:
    """All processes that run; with `gone` those too that are only not reaped yet."""
    for entry in PROC.iterdir():
        if entry.name.isdigit() and (found := row(int(entry.name))) is not None and (gone or not found.gone):
            yield found


def send(process: Process, number: signal.Signals) -> None:
    """Signals this process and no later one with its pid; nothing where it is gone."""
    try:
        handle = os.pidfd_open(process.pid)
    except ProcessLookupError:
        return
    try:
        now = row(process.pid)
        if now is not None and now.process == process:
            signal.pidfd_send_signal(handle, number)
    except (ProcessLookupError, PermissionError):
        pass  # the next look finds it gone, or finds it still there
    finally:
        os.close(handle)
