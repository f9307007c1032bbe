"""The commands of a runtime for one session: each in the session's folder, with its marker, within the time limit."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from perfq.trajectory.external.argv import filled
from perfq.trajectory.local.clearing import Belongings
from perfq.trajectory.local.command import Bounds, Ended, LocalCommands
from perfq.trajectory.local.start import Order
from perfq.trajectory.process import Process


@dataclass(frozen=True)
class Runtime:
    """For one session."""

    commands: LocalCommands
    bounds: Bounds
    what: Belongings
    #: `session` and `workdir`.
    words: Mapping[str, str]
    #: Where the path of a program counts from.
    folder: Path = Path()

    async def run(
        self,
        name: str,
        argv: Sequence[str],
        words: Mapping[str, str] | None = None,
        timeout_ns: int | None = None,
        started: Callable[[Process], object] = lambda _: None,
    ) -> Ended:
        """Runs one of them; `name` tells its processes from those of the others."""
        session, _, value = self.what.marker.partition("=")
        marker = f"PERFQ_COMMAND={value}/{name}"
        # The runtime is the user's own, and finds its daemon by the user's own environment.
        env = {**os.environ, session: value, **dict([marker.split("=", 1)])}
        filled_argv = filled(argv, {**self.words, **(words or {})}, self.folder)
        bounds = self.bounds if timeout_ns is None else replace(self.bounds, timeout_ns=timeout_ns)
        with self.what.command_group() as group:
            order = Order(filled_argv, self.what.workspace, env, marker, group)
            return await self.commands.run(order, bounds, started)


def failure(name: str, ended: Ended) -> str | None:
    """What is wrong with how it ended, in words; None: it ended well."""
    if ended.outcome == "done" and ended.exit_code == 0:
        return None
    if ended.outcome != "done":
        how = ended.why or ended.outcome
    elif ended.signal is not None:
        how = f"it was ended by signal {ended.signal}"
    else:
        how = f"it ended with exit code {ended.exit_code}"
    said = "" if ended.output is None else ended.output.kept.decode(errors="replace").strip()
    return f"{name}: {how}" + (f": {said[-500:]}" if said else "")
