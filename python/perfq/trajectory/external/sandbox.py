"""Sessions in sandboxes of the user's own runtime: launched, run in, paused and stopped by its commands.

What perfq itself starts for a session, the runtime's commands and what they leave in the background, is born in a
cgroup of the session and carries its marker, as on the backend local. What the runtime makes elsewhere is known by what
launch_argv answered, and is never signalled unless it lives in a pid namespace of its own.
"""

from __future__ import annotations

import asyncio
import signal
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final, Literal, TypeVar

from perfq.errors import UsageError
from perfq.profile.trajectory.profile import CommandBackend
from perfq.profile.trajectory.trajectory import ExecStep
from perfq.trajectory.cgroup import counters
from perfq.trajectory.cgroup.group import Group
from perfq.trajectory.external import closing
from perfq.trajectory.external.answer import Found, find, parse
from perfq.trajectory.external.argv import filled
from perfq.trajectory.external.inside import inside, ours_to_end
from perfq.trajectory.external.pause import ArgvPause
from perfq.trajectory.external.runtime import Runtime, failure
from perfq.trajectory.local.clearing import Closed
from perfq.trajectory.local.command import Ended
from perfq.trajectory.local.sandbox import LocalBackend, wait_modes
from perfq.trajectory.plan import Session, SessionPlan
from perfq.trajectory.process import Process, send
from perfq.trajectory.session import StartFailed
from perfq.trajectory.waits import PauseFailed, Pausing

_MS: Final = 1_000_000
#: Between two looks at what has not ended yet, s.
_LOOK_S: Final = 0.02
_T = TypeVar("_T")


def refuse_what_the_runtime_cannot(plan: SessionPlan) -> None:
    """UsageError (2) for a pause that the profile has no commands for."""
    backend, modes = plan.profile.backend, wait_modes(plan)
    assert isinstance(backend, CommandBackend)
    wanted = {"freeze": ("pause_argv", "resume_argv"), "offload": ("offload_argv", "restore_argv")}
    for mode, names in wanted.items():
        missing = [name for name in names if mode in modes and getattr(backend, name) is None]
        if missing:
            raise UsageError(f"a wait asks for {mode}, but the backend has no {' and no '.join(missing)}")


async def in_thread(what: Callable[[], _T]) -> _T:
    """Looks at /proc away from the scheduler."""
    return await asyncio.get_running_loop().run_in_executor(None, what)


@dataclass(frozen=True)
class ExternalBackend:
    """Makes sandboxes by `profile`; their folders, cgroups and journal are those of `site`."""

    profile: CommandBackend
    site: LocalBackend
    budget_bytes: int | None = None
    #: The profile's.
    folder: Path = Path()
    #: Cgroups that the runtime has made, of sandboxes that are up, by session.
    elsewhere: dict[int, Group] = field(default_factory=dict)

    async def open(self, session: Session) -> ExternalSandbox:
        """Launches one. StartFailed where it does not come up, or does not say where it is."""
        site = self.site
        words = {
            "session": f"{site.run_id}-{session.n}",
            "workdir": session.trajectory.environment.workdir or "/",
        }
        stop = filled(self.profile.stop_argv, words, self.folder)
        what = await site.plot(session.n, site.workspace(session.n), stop)
        runtime = Runtime(site.commands, site.bounds, what, words, self.folder)
        sandbox = ExternalSandbox(self, session, runtime, None)
        try:
            ended = await runtime.run("launch", self.profile.launch_argv, started=sandbox.started)
            why = failure("launch_argv", ended)
            if why is None:
                text = "" if ended.output is None else ended.output.kept.decode(errors="replace")
                found = await in_thread(lambda: find(parse(text)))
                if found.group is not None and what.group is not None and found.group.within(what.group):
                    found = replace(found, group=None)  # born in ours: it is counted, and emptied, there
                self._counted(session.n, found)
                services = await in_thread(lambda: frozenset(inside(found)))
                return replace(sandbox, found=replace(found, services=services))
        except ValueError as error:
            why = str(error)
        except BaseException:
            await sandbox.close()
            raise
        closed = await sandbox.close()
        raise StartFailed("; ".join([why, *closed.left]))

    def _counted(self, n: int, found: Found) -> None:
        """For admission. ValueError where there is a budget, and the sandbox's memory cannot be read."""
        if found.group is None:
            return
        if self.budget_bytes is not None and counters.usage_bytes(found.group, "current") is None:
            raise ValueError("admission.budget_bytes is set, but the sandbox's memory cannot be read")
        self.elsewhere[n] = found.group


@dataclass(frozen=True)
class ExternalSandbox:
    """One of them; `found` is None only while it is launched."""

    backend: ExternalBackend
    session: Session
    runtime: Runtime
    found: Found | None

    @property
    def place(self) -> dict[str, object]:
        """Its process and its cgroup: the runtime's, or the one that perfq has launched it in."""
        found, what = self.found, self.runtime.what
        group = what.group if found is None or found.group is None else found.group
        return {
            "pid": None if found is None else found.answer.pid,
            "cgroup": None if group is None else str(group.members.folder),
            "cgroups": None if group is None else group.by_controller,
            "workspace": str(what.workspace),
        }

    def pausing(self, mode: Literal["freeze", "offload"]) -> Pausing:
        """By the profile's commands for it."""
        profile = self.backend.profile
        if mode == "offload":
            if profile.offload_argv is None or profile.restore_argv is None:
                raise PauseFailed("the backend has no offload_argv and restore_argv")
            end = ("restore_argv", profile.restore_argv)
            return ArgvPause(self.runtime, ("offload_argv", profile.offload_argv), end, self.found)
        if profile.pause_argv is None or profile.resume_argv is None:
            raise PauseFailed("the backend has no pause_argv and resume_argv")
        return ArgvPause(self.runtime, ("pause_argv", profile.pause_argv), ("resume_argv", profile.resume_argv))

    async def run(self, step: int, command: ExecStep) -> Ended:
        """exec_argv with the script as one item. A timeout is clean where nothing of it runs in the sandbox either."""
        timeout_ns = None if command.timeout_ms is None else command.timeout_ms * _MS
        first: list[Process] = []

        def started(process: Process) -> None:
            first.append(process)
            self.started(process)

        words = {"script": command.script}
        ended = await self.runtime.run(f"command-{step}", self.backend.profile.exec_argv, words, timeout_ns, started)
        if ended.outcome != "timed_out_cleaned" or self.found is None:
            return ended
        if not self.found.provable or not first:
            why = f"{ended.why}, and what runs in the sandbox cannot be seen"
            return replace(ended, outcome="timed_out_uncleaned", why=why)
        left = await self._end_since(self.found, first[0].start_ticks)
        return replace(
            ended,
            outcome="timed_out_uncleaned" if left else "timed_out_cleaned",
            left=tuple(left),
            returned_ns=time.monotonic_ns(),
        )

    async def _end_since(self, found: Found, start_ticks: int) -> list[Process]:
        """Ends what began in the sandbox since then; what still runs at the end of the clean timeout."""
        until_ns = time.monotonic_ns() + self.runtime.bounds.clean_timeout_ns

        def look() -> list[Process]:
            group = self.runtime.what.group
            born_here = set() if group is None else group.processes()
            running = [one for one in inside(found) if one.start_ticks >= start_ticks and one not in found.services]
            for one in running:
                if ours_to_end(found, one, born_here):
                    send(one, signal.SIGKILL)
            return sorted(running)

        while (running := await in_thread(look)) and time.monotonic_ns() < until_ns:
            await asyncio.sleep(_LOOK_S)
        return running

    async def close(self) -> Closed:
        """stop_argv, then what perfq has on this machine."""
        self.backend.elsewhere.pop(self.session.n, None)
        return await closing.close(self.backend.profile, self.backend.site, self.session.n, self.runtime, self.found)

    def started(self, process: Process) -> None:
        """It is in the journal from then on."""
        self.backend.site.journal.process(self.session.n, process)
