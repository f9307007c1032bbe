"""One command of this machine: started in a session and a group of its own, ended in time, and what it left with it.

A process that has ended is not reaped before its group is: as long as it is a zombie nobody else gets its number.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import subprocess
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Final, Literal

from perfq.trajectory.local.output import Captured, OutputReader, Pipe
from perfq.trajectory.local.processes import Owner, belonging
from perfq.trajectory.local.start import Order, Started, start
from perfq.trajectory.process import Process, row, send

Outcome = Literal["done", "timed_out_cleaned", "timed_out_uncleaned", "failed_to_start", "unknown"]

#: Between two looks at what has not ended yet, s.
_LOOK_S: Final = 0.02


@dataclass(frozen=True)
class Bounds:
    """What a command is held to; ns and bytes."""

    timeout_ns: int
    term_grace_ns: int = 1_000_000_000
    clean_timeout_ns: int = 5_000_000_000
    max_output_bytes: int = 65_536


@dataclass(frozen=True)
class Ended:
    """What became of it. Stamps are CLOCK_MONOTONIC, ns; None: it never came to that."""

    outcome: Outcome
    why: str | None
    issued_ns: int
    started_ns: int | None
    ended_ns: int | None
    returned_ns: int
    exit_code: int | None
    signal: int | None
    output: Captured | None
    #: What could not be ended. None: nobody looked.
    left: tuple[Process, ...] | None


class _Child:
    """A process that was started, and its end as its pidfd tells it."""

    def __init__(self, popen: subprocess.Popen[bytes], started_ns: int) -> None:
        self.popen = popen
        self.started_ns = started_ns
        self.ended_ns: int | None = None
        self._exited = asyncio.Event()
        self._handle = os.pidfd_open(popen.pid)
        asyncio.get_running_loop().add_reader(self._handle, self._seen)
        found = row(popen.pid)
        self.leader = found.process if found is not None else None

    def _seen(self) -> None:
        self.ended_ns = time.monotonic_ns()
        asyncio.get_running_loop().remove_reader(self._handle)
        self._exited.set()

    async def wait(self, until_ns: int) -> bool:
        """True: it has ended; False: it is that late."""
        left_s = max(0, until_ns - time.monotonic_ns()) / 1e9
        try:
            # Not wait_for: before Python 3.12 it swallows a cancellation that comes in the moment of the end.
            async with asyncio.timeout(left_s):
                await self._exited.wait()
        except TimeoutError:
            return self._exited.is_set()
        return True

    def reap(self) -> tuple[int | None, int | None]:
        """Exit code and signal; both None where it has not ended. Lets its pid go."""
        asyncio.get_running_loop().remove_reader(self._handle)
        os.close(self._handle)
        code = self.popen.poll()
        if code is None:
            return None, None
        return (code, None) if code >= 0 else (None, -code)


class LocalCommands:
    """Starts commands on threads of its own, so that a slow exec holds up nobody's wait. A context manager."""

    def __init__(self, launchers: int = 4) -> None:
        self._launchers = ThreadPoolExecutor(launchers, "perfq-launch")
        self._lookers = ThreadPoolExecutor(1, "perfq-sweep")
        self._reader = OutputReader()

    def __enter__(self) -> LocalCommands:
        return self

    def __exit__(self, *_: object) -> None:
        self._launchers.shutdown()
        self._lookers.shutdown()
        self._reader.close()

    async def run(self, order: Order, bounds: Bounds, started: Callable[[Process], object] = lambda _: None) -> Ended:
        """Runs it to its end, or to that of its time. Cancelled, it ends the command first, and all that it left.

        `started` is told of the process as soon as it is there.
        """
        issued_ns = time.monotonic_ns()
        pipe = Pipe(bounds.max_output_bytes)
        loop = asyncio.get_running_loop()
        starting = loop.run_in_executor(self._launchers, start, order, pipe.fd, bounds.timeout_ns)
        try:
            born = await asyncio.shield(starting)
        except (OSError, ValueError) as error:
            os.close(pipe.fd)
            os.close(pipe.read_fd)
            return _never_started(issued_ns, error)
        except asyncio.CancelledError:
            await self._abandon(starting, pipe, order, bounds)
            raise
        os.close(pipe.fd)
        self._reader.add(pipe)
        child = _Child(born.popen, born.at_ns)
        owner = Owner(order.marker, child.leader, order.group)
        try:
            if child.leader is not None:
                started(child.leader)
            in_time = await child.wait(born.at_ns + bounds.timeout_ns)
            left = None if in_time else await self.end(owner, bounds)
        except BaseException:
            await self.end(owner, bounds)
            child.reap()
            raise
        if not in_time:
            await child.wait(time.monotonic_ns() + bounds.clean_timeout_ns)
        exit_code, number = child.reap()
        output = await self._reader.settle(pipe)
        outcome: Outcome = "done" if in_time else "timed_out_uncleaned" if left else "timed_out_cleaned"
        why = None if in_time else f"it ran for more than {bounds.timeout_ns // 1_000_000} ms"
        return Ended(
            outcome,
            why,
            issued_ns,
            born.at_ns,
            child.ended_ns,
            time.monotonic_ns(),
            exit_code,
            number,
            output,
            left,
        )

    async def end(self, owner: Owner, bounds: Bounds) -> tuple[Process, ...]:
        """SIGTERM, grace, SIGKILL to all that belong to it; those that still run at the end of the clean timeout."""
        running = await self._signal(owner, set(), signal.SIGTERM)
        if not running:
            return ()
        grace_ns = time.monotonic_ns() + bounds.term_grace_ns
        while running and time.monotonic_ns() < grace_ns:
            await asyncio.sleep(_LOOK_S)
            running = await self._look(owner, running)
        until_ns = time.monotonic_ns() + bounds.clean_timeout_ns
        while running and time.monotonic_ns() < until_ns:
            running = await self._signal(owner, running, signal.SIGKILL)
            await asyncio.sleep(_LOOK_S)
        return tuple(sorted(await self._look(owner, running)))

    async def _abandon(
        self,
        starting: asyncio.Future[Started],
        pipe: Pipe,
        order: Order,
        bounds: Bounds,
    ) -> None:
        """A start that nobody waits for any more is waited for all the same: what it started has to be ended."""
        try:
            born = await starting
            await self.end(Owner(order.marker, None, order.group), bounds)
            born.popen.wait()
        except (OSError, ValueError):
            pass  # it never started
        finally:
            os.close(pipe.fd)
            os.close(pipe.read_fd)

    async def _look(self, owner: Owner, known: set[Process]) -> set[Process]:
        return await asyncio.get_running_loop().run_in_executor(self._lookers, belonging, owner, known)

    async def _signal(self, owner: Owner, known: set[Process], number: signal.Signals) -> set[Process]:
        def all_of_them() -> set[Process]:
            # A group that stands still cannot fork away from under the signals. They take effect when it runs again.
            killing = owner.group is not None and number == signal.SIGKILL and not owner.group.kill()
            with owner.group.freezer.held() if killing and owner.group is not None else contextlib.nullcontext():
                found = belonging(owner, known)
                for process in found:
                    send(process, number)
            return found

        return await asyncio.get_running_loop().run_in_executor(self._lookers, all_of_them)


def _never_started(issued_ns: int, error: Exception) -> Ended:
    now = time.monotonic_ns()
    return Ended("failed_to_start", str(error), issued_ns, None, None, now, None, None, None, None)
