"""Processes that outlive their starter: known by process id and start time, so that no other is ever signalled."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

#: Those started here, which have to be reaped here.
_children: dict[int, subprocess.Popen[bytes]] = {}


@dataclass(frozen=True)
class Process:
    """One process of this boot of this machine."""

    name: str
    pid: int
    #: Boot id and clock ticks from boot to its start (proc(5), /proc/PID/stat, field 22): a pid alone may be reused.
    started: str

    @staticmethod
    def start(name: str, command: Sequence[str | Path], folder: Path) -> Process:
        """Starts it in `folder`, in a session of its own; what it says goes to `NAME.log` there."""
        with (folder / f"{name}.log").open("ab") as log:
            child = subprocess.Popen(
                command, cwd=folder, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True
            )
        _children[child.pid] = child
        return Process.at(child.pid, name)

    @staticmethod
    def at(pid: int, name: str) -> Process:
        """The process that has this id now."""
        return Process(name, pid, _start_of(pid) or "never")

    @property
    def alive(self) -> bool:
        """False once it ended, be it reaped or not."""
        return _start_of(self.pid) == self.started

    def stop(self, patience_s: float) -> None:
        """SIGTERM, and SIGKILL after `patience_s`; returns when it is gone."""
        with contextlib.suppress(ProcessLookupError):
            # Held before it is looked at: what the descriptor means cannot change any more.
            handle = os.pidfd_open(self.pid)
            try:
                for sent in (signal.SIGTERM, signal.SIGKILL):
                    if not self.alive:
                        break
                    signal.pidfd_send_signal(handle, sent)
                    select.select([handle], [], [], patience_s)
            finally:
                os.close(handle)
        if child := _children.pop(self.pid, None):
            child.wait()


def _start_of(pid: int) -> str | None:
    """When the process with this id started; None where there is none, or only what is left of one."""
    try:
        # The name, in parentheses, may hold anything; the fields after it are counted from the third.
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    except OSError:
        return None
    return None if fields[0] in "ZX" else f"{boot} {fields[22 - 3]}"
