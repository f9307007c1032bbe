"""Output of commands: read to its end by one thread, counted and hashed in full, kept up to a limit.

The scheduler never reads it: a command that prints a gigabyte costs the thread here, not the waits of the others.
"""

from __future__ import annotations

import asyncio
import hashlib
import os
import selectors
import threading
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

_CHUNK: Final = 256 * 1024


@dataclass(frozen=True)
class Captured:
    """Output so far."""

    size: int
    sha256: str
    #: Its beginning.
    kept: bytes
    #: Nobody holds the other end any more. False is no error: a process in the background may.
    ended: bool


class Pipe:
    """One command's output. `fd` is what it writes to; the other end belongs to the thread."""

    def __init__(self, keep: int) -> None:
        self.read_fd, self.fd = os.pipe2(os.O_CLOEXEC)
        os.set_blocking(self.read_fd, False)
        self.ended = False
        self._keep = keep
        self._size = 0
        self._kept = bytearray()
        self._hash = hashlib.sha256()

    def read(self) -> int:
        """Takes a piece; its size, 0 where there is none now."""
        try:
            piece = os.read(self.read_fd, _CHUNK)
        except BlockingIOError:
            return 0
        self.ended = not piece
        self._size += len(piece)
        self._hash.update(piece)
        self._kept += piece[: self._keep - len(self._kept)]
        return len(piece)

    def captured(self) -> Captured:
        """What was read so far."""
        return Captured(self._size, self._hash.hexdigest(), bytes(self._kept), self.ended)


class OutputReader:
    """The thread. A context manager; at its end pipes that are still held are let go."""

    def __init__(self) -> None:
        self._selector = selectors.DefaultSelector()
        self._wake = os.eventfd(0, os.EFD_CLOEXEC | os.EFD_NONBLOCK)
        self._selector.register(self._wake, selectors.EVENT_READ)
        self._asked: deque[Callable[[], object]] = deque()
        self._closing = False
        self._thread = threading.Thread(target=self._run, name="perfq-output", daemon=True)
        self._thread.start()

    def __enter__(self) -> OutputReader:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def add(self, pipe: Pipe) -> None:
        """Reads it from now on."""
        self._ask(lambda: self._register(pipe))

    async def settle(self, pipe: Pipe) -> Captured:
        """What a process that has ended wrote, all of it; what others write later is not waited for."""
        loop = asyncio.get_running_loop()
        settled: asyncio.Future[Captured] = loop.create_future()

        def answer(captured: Captured) -> None:
            if not settled.done():
                settled.set_result(captured)

        self._ask(lambda: loop.call_soon_threadsafe(answer, self._rest(pipe)))
        return await settled

    def close(self) -> None:
        """Ends the thread."""
        self._ask(self._end)
        self._thread.join()
        os.close(self._wake)

    def _ask(self, what: Callable[[], object]) -> None:
        self._asked.append(what)
        os.eventfd_write(self._wake, 1)

    def _run(self) -> None:
        while not self._closing:
            for key, _ in self._selector.select():
                if key.fd == self._wake:
                    os.eventfd_read(self._wake)
                    while self._asked:
                        self._asked.popleft()()
                else:
                    self._read(key.data)
        for key in list(self._selector.get_map().values()):
            if key.fd != self._wake:
                self._drop(key.data)
        self._selector.close()

    def _register(self, pipe: Pipe) -> None:
        self._selector.register(pipe.read_fd, selectors.EVENT_READ, pipe)

    def _end(self) -> None:
        self._closing = True

    def _read(self, pipe: Pipe) -> int:
        if pipe.ended:
            return 0
        read = pipe.read()
        if pipe.ended:
            self._drop(pipe)
        return read

    def _rest(self, pipe: Pipe) -> Captured:
        """No more than a pipe holds: that much may be from the process that ended, the rest is not."""
        left = _CHUNK * 4
        while left > 0 and (read := self._read(pipe)) > 0:
            left -= read
        return pipe.captured()

    def _drop(self, pipe: Pipe) -> None:
        self._selector.unregister(pipe.read_fd)
        os.close(pipe.read_fd)
