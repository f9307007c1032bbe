"""Freezing all that runs in a group: `freezer.state` of v1, `cgroup.freeze` of v2 (the kernel's cgroup documents)."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from perfq.trajectory.cgroup.places import Hierarchy
from perfq.trajectory.cgroup.texts import keyed, text

#: Between two looks at a group that is not frozen yet, s.
_LOOK_S: Final = 0.001


class FreezeFailed(Exception):
    """It did not freeze, or did not thaw; the message says why."""


@dataclass(frozen=True)
class Freezer:
    """Of one group."""

    group: Hierarchy

    @property
    def frozen(self) -> bool | None:
        """Whether all that is in it stands still; None: there is no such group any more."""
        folder = self.group.folder
        if self.group.version == 2:
            events = keyed(folder / "cgroup.events")
            return None if events is None else events.get("frozen") == 1
        state = text(folder / "freezer.state")
        return None if state is None else state.strip() == "FROZEN"

    def ask(self, freeze: bool) -> None:
        """Returns before it is done. OSError where the group is gone, or is not ours."""
        folder = self.group.folder
        if self.group.version == 2:
            _put(folder / "cgroup.freeze", "1" if freeze else "0")
        else:
            _put(folder / "freezer.state", "FROZEN" if freeze else "THAWED")

    async def freeze(self, within_ns: int) -> None:
        """Returns once it is frozen. FreezeFailed, and it is thawed again, where that takes too long."""
        until_ns = time.monotonic_ns() + within_ns
        try:
            while True:
                # v1 may stop at FREEZING when a process forks in that moment, and wants to be asked again.
                self.ask(True)
                if self.frozen:
                    return
                if time.monotonic_ns() >= until_ns:
                    raise FreezeFailed(f"{self.group.folder} was not frozen within {within_ns // 1_000_000} ms")
                await asyncio.sleep(_LOOK_S)
        except OSError as error:
            raise FreezeFailed(f"{self.group.folder} cannot be frozen: {error.strerror}") from error
        except BaseException:
            self.let_go()
            raise

    async def thaw(self, within_ns: int) -> None:
        """Returns once it runs again. FreezeFailed where it does not, in that time."""
        until_ns = time.monotonic_ns() + within_ns
        try:
            self.ask(False)
            while self.frozen:
                if time.monotonic_ns() >= until_ns:
                    raise FreezeFailed(f"{self.group.folder} was not thawed within {within_ns // 1_000_000} ms")
                await asyncio.sleep(_LOOK_S)
        except OSError as error:
            raise FreezeFailed(f"{self.group.folder} cannot be thawed: {error.strerror}") from error

    @contextlib.contextmanager
    def held(self) -> Iterator[None]:
        """Forks, as far as they can be, are held up while the block runs; it is not waited until all stands still."""
        with contextlib.suppress(OSError):
            self.ask(True)
        try:
            yield
        finally:
            self.let_go()

    def let_go(self) -> None:
        """Thaws on a way out; a group that is gone holds nothing."""
        with contextlib.suppress(OSError):
            self.ask(False)


def _put(file: Path, value: str) -> None:
    # Never made: a file that is missing is an error here.
    with file.open("r+") as opened:
        opened.write(value)
