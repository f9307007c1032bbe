"""A client's side of the probe: say from inside what only the inside can know.

Copy this file or import it; it needs nothing but the standard library. Protocol: docs/reference/probe.md
(a Unix stream socket named by `PERFQ_PROBE`, one JSON object a line, `t` in CLOCK_MONOTONIC ns).

    probe = Probe.from_environment()
    probe.hello("my-client", "1.2.3", {"textual": "8.2.8"})
    probe.interactive()

It never blocks and never raises into its program. Lines wait in a bounded buffer while the socket is
full; a line that does not fit is dropped and counted, and the count is sent as `lost` once there is
room. Without `PERFQ_PROBE`, or after the listener has gone, every call does nothing. All calls may be
made from any thread.
"""

from __future__ import annotations

import json
import os
import socket
import threading
import time
import tracemalloc
from collections.abc import Mapping
from typing import Any

__all__ = ["AllocationGrowth", "Probe"]

#: Bytes that may wait for the socket.
BUFFER_BYTES = 1 << 20
#: Room kept for the line that says how many were lost.
_LOST_ROOM = 128
#: Places in the source that one `alloc` line names at most, and the bytes that their list may take in it:
#: a line of the probe has at most 64 KiB.
GROWTHS = 25
_GROWTHS_BYTES = 60_000


class Probe:
    """One connection to the listener; see the module."""

    def __init__(self, connection: socket.socket | None, *, buffer_bytes: int = BUFFER_BYTES) -> None:
        """Takes a connected stream socket, or None for a probe that does nothing."""
        if connection is not None:
            connection.setblocking(False)
        self._socket = connection
        self._limit = buffer_bytes
        self._waiting = bytearray()
        self._unsent_lost = 0
        self._lock = threading.Lock()

    @classmethod
    def from_environment(cls, environment: Mapping[str, str] = os.environ) -> Probe:
        """Connects to `PERFQ_PROBE`; a probe that does nothing where it is unset or nobody listens."""
        path = environment.get("PERFQ_PROBE", "")
        if not path:
            return cls(None)
        connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            connection.connect(path)
        except OSError:
            connection.close()
            return cls(None)
        return cls(connection)

    @property
    def active(self) -> bool:
        """Whether anyone listens. Work done only for the probe can be left out where not."""
        return self._socket is not None

    @property
    def waiting(self) -> int:
        """Bytes that wait for the socket."""
        return len(self._waiting)

    @property
    def lost(self) -> int:
        """Lines dropped that the listener has not been told of yet."""
        return self._unsent_lost

    def hello(self, client: str, version: str, libraries: Mapping[str, str]) -> None:
        """Who speaks; the first line."""
        self.send("hello", client=client, version=version, libraries=dict(libraries))

    def interactive(self, t: int | None = None) -> None:
        """The first frame is drawn and keys are accepted."""
        self.send("interactive", t)

    def list_complete(self, kind: str, scope: str, objects: int) -> None:
        """The last page of a LIST has been decoded."""
        self.send("list_complete", kind=kind, scope=scope, objects=objects)

    def populated(self, kind: str, scope: str, rows: int, t: int | None = None) -> None:
        """All rows of the LIST are in the table."""
        self.send("populated", t, kind=kind, scope=scope, rows=rows)

    def event_received(self, kind: str, scope: str, rv: str, t: int | None = None) -> None:
        """One watch event was read. Buffered: goes out with the next line of another kind, or `flush`."""
        if self._socket is None:
            return
        at = time.monotonic_ns() if t is None else t
        line = f'{{"k":"event_received","t":{at},"kind":"{kind}","scope":"{scope}","rv":"{rv}"}}\n'
        with self._lock:
            self._append(line.encode())

    def rendered(self, kind: str, scope: str, rv: str, rows_changed: int, t: int | None = None) -> None:
        """All events received up to `rv` are in the table and the frame after that was flushed."""
        self.send("rendered", t, kind=kind, scope=scope, rv=rv, rows_changed=rows_changed)

    def coalesced(self, kind: str, scope: str, n: int) -> None:
        """`n` events were overtaken by a later one of the same object before a frame showed them."""
        self.send("coalesced", kind=kind, scope=scope, n=n)

    def dropped(self, kind: str, scope: str, n: int) -> None:
        """`n` events were received and will never be shown."""
        self.send("dropped", kind=kind, scope=scope, n=n)

    def backlog(self, depth: int) -> None:
        """Events received and not yet rendered, coalesced or dropped."""
        self.send("backlog", depth=depth)

    def digest(self, kind: str, store: str | None, table: str | None) -> None:
        """SHA-256 of the canonical object text of what is in the store and in the table."""
        self.send("digest", kind=kind, store=store, table=table)

    def send(self, k: str, t: int | None = None, /, **fields: object) -> None:
        """Sends one line; `t` is now where it is not given."""
        if self._socket is None:
            return
        record = {"k": k, "t": time.monotonic_ns() if t is None else t, **fields}
        line = json.dumps(record, separators=(",", ":")).encode() + b"\n"
        with self._lock:
            self._append(line)
            self._push()

    def flush(self) -> None:
        """Hands to the socket what it takes now. Does not wait."""
        with self._lock:
            self._push()

    def close(self) -> None:
        """Hands over what the socket takes now, and closes it."""
        with self._lock:
            self._push()
            self._give_up()

    def _append(self, line: bytes) -> None:
        silent = self._unsent_lost and not self._say_lost()
        if silent or len(self._waiting) + len(line) + _LOST_ROOM > self._limit:
            self._unsent_lost += 1
        else:
            self._waiting += line

    def _say_lost(self) -> bool:
        """Puts the count of lost lines into the buffer; False where even that has no room."""
        if len(self._waiting) + _LOST_ROOM > self._limit // 2:
            return False
        line = f'{{"k":"lost","t":{time.monotonic_ns()},"n":{self._unsent_lost}}}\n'
        self._waiting += line.encode()
        self._unsent_lost = 0
        return True

    def _push(self) -> None:
        while self._socket is not None:
            if not self._waiting:
                if not self._unsent_lost or not self._say_lost():
                    return
                continue
            try:
                sent = self._socket.send(self._waiting)
            except (BlockingIOError, InterruptedError):
                return
            except OSError:
                self._give_up()
                return
            del self._waiting[:sent]

    def _give_up(self) -> None:
        if self._socket is not None:
            self._socket.close()
            self._socket = None
        self._waiting.clear()


class AllocationGrowth:
    """Where a Python program's memory grows: what is allocated at each line of source, against a beginning.

    Does something only where a listener is there and `tracemalloc` is tracing, which it is from the start in a
    program started with PYTHONTRACEMALLOC=1. Reading what is traced takes up to seconds in a large program:
    call from a thread of its own, one call at a time. What `tracemalloc` and this file hold is left out.

        growth = AllocationGrowth(probe)
        growth.begin()   # the tables are full
        growth.report()  # now and then, and at the end
    """

    def __init__(self, probe: Probe) -> None:
        self._probe = probe
        self._before: dict[tuple[str, int], tuple[int, int]] | None = None
        self._began_ns = 0

    @property
    def active(self) -> bool:
        """Whether allocations are traced and anyone listens."""
        return self._probe.active and tracemalloc.is_tracing()

    def begin(self) -> None:
        """What is allocated now is what later reports compare with."""
        if self.active:
            self._began_ns = time.monotonic_ns()
            self._before = _allocated()

    def report(self) -> None:
        """Sends one `alloc` line: the lines of source that hold more bytes than at the beginning, the most first."""
        before = self._before
        if before is None or not self.active:
            return
        seconds = (time.monotonic_ns() - self._began_ns) / 1e9
        traced, _peak = tracemalloc.get_traced_memory()
        grown = []
        for (file, line), (size, count) in _allocated().items():
            size_before, count_before = before.get((file, line), (0, 0))
            if size > size_before:
                grown.append((size - size_before, count - count_before, file, line))
        grown.sort(key=lambda one: (-one[0], one[2], one[3]))
        growth: list[dict[str, Any]] = []
        room = _GROWTHS_BYTES
        for size, count, file, line in grown[:GROWTHS]:
            entry = {"file": file, "line": line, "bytes": size, "count": count}
            room -= len(json.dumps(entry)) + 1
            if room < 0:
                break
            growth.append(entry)
        self._probe.send("alloc", seconds=seconds, traced_bytes=traced, growth=growth)


def _allocated() -> dict[tuple[str, int], tuple[int, int]]:
    """(file, line) → (bytes, blocks) of all that is traced."""
    own = (tracemalloc.__file__, __file__)
    found = {}
    for statistic in tracemalloc.take_snapshot().statistics("lineno"):
        frame = statistic.traceback[0]
        if frame.filename not in own:
            found[frame.filename, frame.lineno] = (statistic.size, statistic.count)
    return found
