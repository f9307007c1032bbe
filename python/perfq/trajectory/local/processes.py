"""Which processes a command, or a session, has left: by its cgroup first; by its environment marker, its group, its
session and its tree second.

What has cleared its environment, left the group and lost its parent is found by its cgroup alone.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass

from perfq.trajectory.cgroup.group import Group
from perfq.trajectory.process import PROC, Process, rows


@dataclass(frozen=True)
class Owner:
    """What ties processes to a command or a session."""

    #: An entry of the environment, `NAME=value`, that nobody else has.
    marker: str
    #: The process that was started, where it is known; nothing older than it can be its descendant.
    leader: Process | None = None
    #: Its cgroup: whatever it did to its parents, its group and its environment, this holds it.
    group: Group | None = None


def marked(pid: int, marker: str) -> bool:
    """Whether this entry stands in the environment that it was started with."""
    try:
        environment = (PROC / str(pid) / "environ").read_bytes()
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
