"""Pausing a sandbox by its runtime's commands."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field

from perfq.trajectory.external.answer import Found
from perfq.trajectory.external.inside import unsafe_to_offload
from perfq.trajectory.external.runtime import Runtime, failure
from perfq.trajectory.waits import PauseFailed, PauseRefused


@dataclass
class ArgvPause:
    """By pause_argv and resume_argv; or, with a scan before it, by offload_argv and restore_argv."""

    runtime: Runtime
    #: By its name in the profile.
    begin: tuple[str, Sequence[str]]
    end: tuple[str, Sequence[str]]
    #: What is scanned before; None: nothing.
    scanned: Found | None = None
    #: Something was done that has to be undone.
    _begun: bool = field(default=False, init=False)

    async def pause(self) -> None:
        """PauseRefused where the scan says that it is not safe now."""
        if self.scanned is not None:
            why = await asyncio.get_running_loop().run_in_executor(None, unsafe_to_offload, self.scanned)
            if why is not None:
                raise PauseRefused(why)
        self._begun = True
        await self._run(*self.begin)

    async def resume(self) -> None:
        """Also where the pause was cut short: how far it came is not known."""
        if self._begun:
            self._begun = False
            await self._run(*self.end)

    async def _run(self, name: str, argv: Sequence[str]) -> None:
        why = failure(name, await self.runtime.run(name.removesuffix("_argv"), argv))
        if why is not None:
            raise PauseFailed(why)
