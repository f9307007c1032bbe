"""Sessions of this machine: a workspace each, and every process of it marked with whose it is."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final, Literal

from perfq.errors import GuardRefused, UsageError
from perfq.profile.trajectory.trajectory import ExecStep
from perfq.trajectory.cgroup.freezer import FreezeFailed, Freezer
from perfq.trajectory.cgroup.group import Group
from perfq.trajectory.cgroup.run_group import RunGroup
from perfq.trajectory.journal import StartedJournal
from perfq.trajectory.local.clearing import Belongings, Closed, clear
from perfq.trajectory.local.command import Bounds, Ended, LocalCommands
from perfq.trajectory.local.machine import MachineCounts
from perfq.trajectory.local.start import Order
from perfq.trajectory.plan import Session, SessionPlan
from perfq.trajectory.process import Process
from perfq.trajectory.session import StartFailed
from perfq.trajectory.waits import PauseFailed, Pausing

_MS: Final = 1_000_000


def bounds_of(plan: SessionPlan) -> Bounds:
    """What the profile holds every command to."""
    command = plan.profile.command
    return Bounds(
        command.timeout_ms * _MS, command.term_grace_ms * _MS, command.clean_timeout_ms * _MS, command.max_output_bytes
    )


def wait_modes(plan: SessionPlan, sessions: Sequence[Session] | None = None) -> set[str]:
    """What is done in waits, of these sessions or of all."""
    steps = [step for one in sessions or plan.sessions for step in one.steps]
    return {step.pause or plan.profile.wait.mode for step in steps if step.kind == "wait"}


def refuse_what_cannot_run(plan: SessionPlan, allowed: bool, frozen: str | None = None) -> None:
    """Before anything starts. GuardRefused (5): scripts of others without leave. UsageError (2): what is not there.

    `frozen` says why this machine's cgroups cannot freeze a session; None: they can.
    """
    for session in plan.sessions:
        name = f"session {session.n} ({session.id})"
        if session.trajectory.source is not None and not allowed:
            raise GuardRefused(
                f"{name} was imported: it holds another one's scripts, and the backend local would run them on this "
                "machine as you; read them, then pass --allow-local-exec"
            )
        if session.trajectory.environment.session == "persistent":
            raise UsageError(
                f"{name} needs one shell that remembers (environment.session: persistent), which the backend local "
                "does not have; use stateless, or the backend command"
            )
        modes = wait_modes(plan, [session])
        if "offload" in modes:
            raise UsageError(
                f"{name} has a wait with offload, for which the backend local has no commands; use idle or freeze, "
                "or the backend command with offload_argv and restore_argv"
            )
        if "freeze" in modes and frozen is not None:
            raise UsageError(f"{name} has a wait with freeze, but there is no cgroup to freeze: {frozen}; use idle")


@dataclass(frozen=True)
class LocalBackend:
    """Makes sandboxes below `root`."""

    run_id: str
    root: Path
    commands: LocalCommands
    bounds: Bounds
    journal: StartedJournal
    #: None: sessions have process groups and a marker alone.
    run_group: RunGroup | None = None
    #: perfq adopts what loses its parents.
    adopts: bool = False

    async def open(self, session: Session) -> LocalSandbox:
        """A cgroup, a workspace, and in it the recording's directory. StartFailed with nothing left of it."""
        workspace = self.workspace(session.n)
        # The recording's absolute path counts from the workspace.
        workdir = workspace / (session.trajectory.environment.workdir or "/").lstrip("/")
        if not workdir.resolve().is_relative_to(workspace.resolve()):
            raise StartFailed(f"environment.workdir {workdir} leads out of the workspace")
        return LocalSandbox(self, session, await self.plot(session.n, workdir), workdir)

    async def plot(self, n: int, folder: Path, stop: Sequence[str] = ()) -> Belongings:
        """A cgroup and a workspace, with `folder` in it; `stop` ends what a later start finds of it. StartFailed."""
        group = None if self.run_group is None else self.run_group.session(n)
        marker = f"PERFQ_SESSION={self.run_id}/{n}"
        what = Belongings(marker, self.workspace(n), group, MachineCounts.now(), self.adopts)
        try:
            self.journal.sandbox(n, what.marker, what.workspace, group, stop)
        except OSError as error:
            raise StartFailed(f"cannot write the journal {self.journal.path}: {error.strerror}") from error
        try:
            await asyncio.get_running_loop().run_in_executor(None, _make, group, folder)
        except OSError as error:
            closed = await clear(self.commands, what, self.bounds)
            if not closed.left:
                self.journal.gone(n)
            raise StartFailed("; ".join([f"cannot create {error.filename}: {error.strerror}", *closed.left])) from error
        return what

    def workspace(self, n: int) -> Path:
        """Where a session works."""
        return self.root / f"session-{n}"


def _make(group: Group | None, folder: Path) -> None:
    if group is not None:
        group.make()
    folder.mkdir(parents=True)


@dataclass(frozen=True)
class LocalSandbox:
    """One of them."""

    backend: LocalBackend
    session: Session
    what: Belongings
    workdir: Path

    @property
    def place(self) -> dict[str, object]:
        """No process outlives its command by design; of what there is none, null."""
        group = self.what.group
        folders = None if group is None else group.by_controller
        cgroup = None if group is None else str(group.members.folder)
        return {"pid": None, "cgroup": cgroup, "cgroups": folders, "workspace": str(self.what.workspace)}

    def pausing(self, mode: Literal["freeze", "offload"]) -> Pausing:
        """By the freezer of its cgroup."""
        if mode == "offload" or self.what.group is None:
            raise PauseFailed(f"the backend local cannot {mode} a session here")
        return FreezerPause(self.what.group.freezer, self.backend.bounds.clean_timeout_ns)

    async def run(self, step: int, command: ExecStep) -> Ended:
        """The script is the shell's last argument, unaltered."""
        backend, environment = self.backend, self.session.trajectory.environment
        marker = f"PERFQ_COMMAND={backend.run_id}/{self.session.n}/{step}"
        env = {
            "PATH": os.environ.get("PATH", os.defpath),
            "HOME": str(self.what.workspace),
            "PWD": str(self.workdir),
            **environment.env,
            **dict([self.what.marker.split("=", 1), marker.split("=", 1)]),
        }
        bounds = backend.bounds
        if command.timeout_ms is not None:
            bounds = replace(bounds, timeout_ns=command.timeout_ms * _MS)
        with self.what.command_group() as group:
            order = Order([*environment.shell, command.script], self.workdir, env, marker, group)
            return await backend.commands.run(order, bounds, self._started)

    async def close(self) -> Closed:
        """Ends what commands left in the background, and removes the workspace."""
        closed = await clear(self.backend.commands, self.what, self.backend.bounds)
        if not closed.left:
            self.backend.journal.gone(self.session.n)
        return closed

    def _started(self, process: Process) -> None:
        self.backend.journal.process(self.session.n, process)


@dataclass(frozen=True)
class FreezerPause:
    """A pause by the freezer."""

    freezer: Freezer
    within_ns: int

    async def pause(self) -> None:
        """Returns once nothing in the group runs."""
        try:
            await self.freezer.freeze(self.within_ns)
        except FreezeFailed as error:
            raise PauseFailed(str(error)) from error

    async def resume(self) -> None:
        """Returns once it runs again."""
        try:
            await self.freezer.thaw(self.within_ns)
        except FreezeFailed as error:
            raise PauseFailed(str(error)) from error
