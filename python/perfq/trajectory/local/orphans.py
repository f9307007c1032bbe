"""Processes that left every trace of whose they are, where no cgroup holds them: perfq adopts them instead of init.

Each that loses its parent becomes a child of perfq (PR_SET_CHILD_SUBREAPER, prctl(2)), whatever it did to its group and
its environment, and is found as such when all sessions have ended.
"""

from __future__ import annotations

import asyncio
import contextlib
import ctypes
import os
import signal
import time
from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Final

from perfq.trajectory.process import Process, row, rows, send

_PR_SET_CHILD_SUBREAPER: Final = 36
_LOOK_S: Final = 0.02


def _adopt(whether: bool) -> bool:
    failed: int = ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, int(whether), 0, 0, 0)
    return failed == 0


@dataclass
class Orphans:
    """A context manager: perfq adopts while the block runs."""

    adopting: bool = False
    _before: set[Process] = field(default_factory=set)

    def __enter__(self) -> Orphans:
        self._before = _below(os.getpid())
        self.adopting = _adopt(True)
        return self

    def __exit__(self, *_: object) -> None:
        _adopt(False)

    async def end(self, within_ns: int) -> list[Process]:
        """Kills what has come below perfq since, when nothing is meant to run any more; what still runs after that."""
        until_ns = time.monotonic_ns() + within_ns
        while (running := self._kill()) and time.monotonic_ns() < until_ns:
            await asyncio.sleep(_LOOK_S)
        return running

    def _kill(self) -> list[Process]:
        below = _below(os.getpid(), self._before)
        for one in below:
            send(one, signal.SIGKILL)
            with contextlib.suppress(ChildProcessError):
                os.waitpid(one.pid, os.WNOHANG)
        return sorted(one for one in below if (seen := row(one.pid)) is not None and not seen.gone)


def _below(top: int, aside: Collection[Process] = ()) -> set[Process]:
    """All descendants, those that are only not reaped yet too; without those `aside` and what is below them."""
    children: dict[int, list[Process]] = {}
    for one in rows(gone=True):
        children.setdefault(one.parent, []).append(one.process)
    found: set[Process] = set()
    queue = [top]
    while queue:
        for child in children.get(queue.pop(), []):
            if child not in aside:
                found.add(child)
                queue.append(child.pid)
    return found
