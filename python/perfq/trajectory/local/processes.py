"""Which processes a command, or a session, has left: by its cgroup first; by its environment marker, its group, its
session and its tree second.

A process is a pid and a start time: a pid alone may belong to another one by the time it is signalled. What has
cleared its environment, left the group and lost its parent is found by its cgroup alone.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from perfq.trajectory.cgroup.group import Group

_PROC = Path("/proc")


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


@dataclass(frozen=True)
class Owner:
    """What ties processes to a command or a session."""

    #: An entry of the environment, `NAME=value`, that nobody else has.
    marker: str
    #: The process that was started, where it is known; nothing older than it can be its descendant.
    leader: Process | None = None
    #: Its cgroup: whatever it did to its parents, its group and its environment, this holds it.
    group: Group | None = None


def row(pid: int) -> Row | None:
    """None: there is no such process."""
    try:
        text = (_PROC / str(pid) / "stat").read_bytes()
    except OSError:
        return None
    # The name stands in parentheses, and may hold anything but its own end.
    fields = text.rpartition(b")")[2].split()
    return Row(Process(pid, int(fields[19])), fields[0].decode(), int(fields[1]), int(fields[2]), int(fields[3]))


def rows(gone: bool = False) -> Iterator[Row]:
    """All processes that run; with `gone` those too that are only not reaped yet."""
    for entry in _PROC.iterdir():
        if entry.name.isdigit() and (found := row(int(entry.name))) is not None and (gone or not found.gone):
            yield found


def marked(pid: int, marker: str) -> bool:
    """Whether this entry stands in the environment that it was started with."""
    try:
        environment = (_PROC / str(pid) / "environ").read_bytes()
    except OSError:
        return False
    return os.fsencode(marker) in environment.split(b"\0")


def belonging(owner: Owner, known: Iterable[Process] = ()) -> set[Process]:
    """All that run and belong to it; of `known`, found earlier, those that still run."""
    leader = owner.leader
    before = set(known)
    inside = owner.group.processes() if owner.group is not None else set()
    found: set[Process] = set()
    children: dict[int, list[Process]] = {}
    for one in rows():
        older = leader is not None and one.process.start_ticks < leader.start_ticks
        if one.process.pid == os.getpid() or (older and one.process not in inside):
            continue
        children.setdefault(one.parent, []).append(one.process)
        in_group = leader is not None and leader.pid in {one.process.pid, one.group, one.session}
        if in_group or one.process in inside or one.process in before or marked(one.process.pid, owner.marker):
            found.add(one.process)
    queue = list(found)
    while queue:
        for below in children.get(queue.pop().pid, []):
            if below not in found:
                found.add(below)
                queue.append(below)
    return found


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
