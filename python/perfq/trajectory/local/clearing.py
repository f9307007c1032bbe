"""The end of a session on this machine: its processes, what the kernel counted for it, its cgroup, its workspace."""

from __future__ import annotations

import asyncio
import os
import shlex
import shutil
import signal
from collections.abc import Iterable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Final

from perfq.trajectory import audits
from perfq.trajectory.audits import Audit
from perfq.trajectory.cgroup import counters
from perfq.trajectory.cgroup.command_groups import CommandGroups
from perfq.trajectory.cgroup.counters import Counters
from perfq.trajectory.cgroup.group import Group
from perfq.trajectory.journal import Remnant
from perfq.trajectory.local.command import Bounds, LocalCommands
from perfq.trajectory.local.machine import MachineCounts
from perfq.trajectory.local.processes import Owner
from perfq.trajectory.local.start import Order
from perfq.trajectory.process import Process, send

_MOUNTS: Final = Path("/proc/self/mountinfo")


@dataclass(frozen=True)
class Belongings:
    """What a session has on this machine."""

    marker: str
    workspace: Path
    group: Group | None = None
    #: What the machine had counted before.
    before: MachineCounts | None = None
    #: Where there is no group: perfq adopts orphans, and looks for them at the end of the run.
    adopted: bool = False

    def command_group(self) -> AbstractContextManager[Group | None]:
        """What the session's next command is to run in, and no other meanwhile; None: it has none."""
        return nullcontext() if self._command_groups is None else self._command_groups.one()

    @cached_property
    def _command_groups(self) -> CommandGroups | None:
        return None if self.group is None else CommandGroups(self.group)


@dataclass(frozen=True)
class Closed:
    """What came of clearing it away."""

    #: What is still there, a sentence each.
    left: list[str] = field(default_factory=list)
    counters: Counters | None = None
    audits: list[Audit] = field(default_factory=list)
    #: Processes that could not be ended.
    running: tuple[Process, ...] = ()


async def clear(commands: LocalCommands, what: Belongings, bounds: Bounds) -> Closed:
    """Thaws, ends all that runs, reads the counters, removes cgroup and workspace."""
    group, loop = what.group, asyncio.get_running_loop()
    if group is not None:
        group.freezer.let_go()
    running = await commands.end(Owner(what.marker, None, group), bounds)
    return await loop.run_in_executor(None, _removed, what, running)


async def sweep(commands: LocalCommands, remnants: Iterable[Remnant], bounds: Bounds) -> list[str]:
    """Ends and removes what an earlier run has left; what could not be, a sentence each."""
    left = []
    for remnant in remnants:
        left += await _stopped(commands, remnant, bounds)
        for process in remnant.processes:
            send(process, signal.SIGKILL)
        left += (await clear(commands, Belongings(remnant.marker, remnant.workspace, remnant.group), bounds)).left
    return left


async def _stopped(commands: LocalCommands, remnant: Remnant, bounds: Bounds) -> list[str]:
    """A sandbox of the user's own runtime: whether it ever came up is not known, so that a failure is only told."""
    if not remnant.stop:
        return []
    name, _, value = remnant.marker.partition("=")
    cwd = remnant.workspace if remnant.workspace.is_dir() else Path("/")
    ended = await commands.run(Order(remnant.stop, cwd, {**os.environ, name: value}, remnant.marker), bounds)
    if ended.outcome == "done" and ended.exit_code == 0:
        return []
    told = shlex.join(remnant.stop)
    return [f"{told}: {ended.why or f'it ended with exit code {ended.exit_code}'}; see whether its sandbox is there"]


def _removed(what: Belongings, running: tuple[Process, ...]) -> Closed:
    group, workspace = what.group, what.workspace
    vanished = group is not None and group.vanished
    counted = None if group is None or vanished else counters.read(group)
    folders = [] if group is None else group.remove()
    mounted = _mounted(workspace)
    why = "processes of it still run" if running else _remove(workspace, mounted)
    found = [
        audits.processes_gone(running, what.marker, group, what.adopted),
        audits.no_mounts(workspace, mounted),
        audits.workspace_removed(workspace, why),
        *memory_audits(what, counted),
    ]
    if group is not None:
        found.append(audits.cgroup_empty(group, vanished, folders))
    left = [f"process {one.pid} of {what.marker} still runs" for one in running] + folders
    if why is not None and workspace.exists():
        left.append(f"the workspace {workspace} is not removed: {why}")
    return Closed(left, counted, found, running)


def memory_audits(what: Belongings, counted: Counters | None) -> list[Audit]:
    """By the group's own counts; where the kernel has none for it, by the machine's, which may prove enough."""
    counted = counted or Counters()
    passed = MachineCounts(None, None) if what.before is None else MachineCounts.now().since(what.before)
    return [
        audits.no_oom(counted) if counted.oom is not None else audits.no_oom_anywhere(passed.oom_kill),
        audits.no_swap(counted) if counted.swap is not None else audits.no_swap_anywhere(passed.pswpout),
    ]


def _mounted(workspace: Path) -> list[str]:
    inside = f"{workspace.resolve()}/"
    points = [line.split()[4] for line in _MOUNTS.read_text().splitlines()]
    return [point for point in points if f"{point}/".startswith(inside)]


def _remove(workspace: Path, mounted: list[str]) -> str | None:
    """Why it could not be."""
    if mounted:
        return f"{', '.join(mounted)} is mounted in it"
    try:
        shutil.rmtree(workspace)
    except FileNotFoundError:
        return None
    except OSError as error:
        return f"{error.filename}: {error.strerror}"
    return None
