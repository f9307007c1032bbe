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
from collections.abc import Mapping

__all__ = ["Probe"]

#: Bytes that may wait for the socket.
BUFFER_BYTES = 1 << 20
#: Room kept for the line that says how many were lost.
_LOST_ROOM = 128


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
