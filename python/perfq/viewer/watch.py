"""The watch manager of one scope: one LIST in pages, then one WATCH, again where it must be.

- A WATCH that ends in good order goes on from the last version seen, bookmarks included.
- 410 (Expired): a new LIST. What it does not hold any more is gone.
- 429, 5xx, connection lost: bounded exponential backoff with jitter, never before Retry-After.
- 403: one request in 30 s, said once. 401: a new credential, once, then backoff.

It runs in a thread of its own and hands batches to the inbox; it knows nothing of the app.
"""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from http import HTTPStatus

import msgspec

from perfq.probe import Probe
from perfq.viewer.backoff import Backoff
from perfq.viewer.inbox import Events, Inbox, ListComplete, ListPage, ListStarted, Problem
from perfq.viewer.kinds import Kind, Scope, decode_event, decode_version
from perfq.viewer.objects import Key, Record
from perfq.viewer.transport import Rejected, Stream, Transport, Unreachable, one_line

__all__ = ["PAGE_OBJECTS", "Clock", "Link", "ScopeWatcher"]

PAGE_OBJECTS = 500
#: A WATCH that was open for so long was a success: the next failure is a first one.
_HEALTHY_SECONDS = 10.0
#: A WATCH that ends sooner, with nothing said, is a failure and not a time-out of the server.
_LEAST_SECONDS = 1.0


class _ErrorStatus(msgspec.Struct):
    code: int = 0
    message: str = ""
    reason: str = ""


@dataclass(frozen=True)
class Clock:
    """The time as the manager sees it. `wait` gives True when the manager was stopped meanwhile."""

    now: Callable[[], float] = time.monotonic
    wait: Callable[[threading.Event, float], bool] = field(default=lambda stop, seconds: stop.wait(seconds))


@dataclass(frozen=True)
class Link:
    """What a manager is connected to."""

    transport: Transport
    inbox: Inbox
    probe: Probe
    clock: Clock = field(default_factory=Clock)
    rng: random.Random = field(default_factory=random.Random)


class ScopeWatcher:
    """Keeps one scope listed and watched until `stop`."""

    def __init__(self, kind: Kind, scope: Scope, link: Link) -> None:
        self.kind = kind
        self.scope = scope
        self._link = link
        self._backoff = Backoff(link.rng)
        self._version: str | None = None
        self._stopped = threading.Event()
        self._stream: Stream | None = None
        self._problem: str | None = None
        self._refreshed = False
        self._thread = threading.Thread(target=self.run, name=f"watch {scope}", daemon=True)

    def start(self) -> None:
        """Starts the thread."""
        self._thread.start()

    def stop(self) -> None:
        """Ends the watch; returns at once."""
        self._stopped.set()
        stream = self._stream
        if stream is not None:
            stream.close()

    def run(self) -> None:
        """LIST, WATCH, wait, until stopped."""
        while not self._stopped.is_set():
            delay = self.attempt()
            if delay > 0 and self._link.clock.wait(self._stopped, delay):
                return

    def attempt(self) -> float:
        """One LIST where it is needed, one WATCH; gives the seconds to wait before the next attempt."""
        try:
            if self._version is None:
                self._list()
            return self._watch()
        except Rejected as error:
            return self._after(error)
        except Unreachable as error:
            return self._failed(str(error), self._backoff.after_failure())
        except msgspec.MsgspecError as error:
            text = one_line(f"the answer could not be read: {error}")
            self._version = None
            return self._failed(text, self._backoff.after_failure())

    def _list(self) -> None:
        link = self._link
        link.inbox.put(ListStarted(self.scope))
        query = {"limit": str(PAGE_OBJECTS)}
        objects = 0
        while not self._stopped.is_set():
            records, page = self.kind.decode_page(link.transport.get(self.kind.path(self.scope.namespace), query))
            objects += len(records)
            self._well()
            if not page.continue_:
                link.probe.list_complete(self.kind.name, self.scope.namespace, objects)
            if records:
                link.inbox.put(ListPage(self.scope, records))
            if not page.continue_:
                link.inbox.put(ListComplete(self.scope, page.resourceVersion, objects))
                self._version = page.resourceVersion
                return
            query["continue"] = page.continue_

    def _watch(self) -> float:
        if self._stopped.is_set():
            return 0.0
        link = self._link
        query = {
            "watch": "true",
            "allowWatchBookmarks": "true",
            "resourceVersion": self._version or "",
            "timeoutSeconds": str(link.rng.randint(1800, 3600)),
        }
        opened = link.clock.now()
        stream = self._stream = link.transport.stream(self.kind.path(self.scope.namespace), query)
        said = False
        try:
            if self._stopped.is_set():
                return 0.0
            self._well()
            rest = b""
            for chunk in stream.chunks():
                at = time.monotonic_ns()
                *lines, rest = (rest + chunk if rest else chunk).split(b"\n")
                if lines:
                    said = True
                    self._take(lines, at)
        except Unreachable:
            if self._stopped.is_set():
                return 0.0
            raise
        finally:
            self._stream = None
            stream.close()
            lasted = link.clock.now() - opened
            if lasted >= _HEALTHY_SECONDS:
                self._backoff.succeeded()
        if said or lasted >= _LEAST_SECONDS:
            return self._backoff.after_close()
        return self._backoff.after_failure()

    def _take(self, lines: list[bytes], at: int) -> None:
        """Decodes what came in one read. Rejected where the server said ERROR."""
        changes: list[tuple[Key, Record | None]] = []
        error: Rejected | None = None
        for line in lines:
            if not line or line.isspace():
                continue
            event = decode_event(line)
            if event.type == "BOOKMARK":
                self._version = decode_version(event.object) or self._version
            elif event.type == "ERROR":
                status = msgspec.json.decode(event.object, type=_ErrorStatus)
                error = Rejected(status.code, one_line(status.message or status.reason) or "watch error")
                break
            else:
                record, self._version = self.kind.decode_object(event.object)
                self.received(self._version, at)
                changes.append((record.key, None if event.type == "DELETED" else record))
        if changes:
            self._link.inbox.put(Events(self.scope, changes, self._version or ""))
        if error is not None:
            raise error

    def received(self, version: str, at: int) -> None:
        """One event was read; `at` is when its bytes were (CLOCK_MONOTONIC ns)."""
        self._link.probe.event_received(self.kind.name, self.scope.namespace, version, at)

    def _after(self, error: Rejected) -> float:
        """What a refusal means: the seconds to wait."""
        if error.status == HTTPStatus.GONE:
            self._version = None
            delay = self._backoff.after_gone()
            return delay if delay == 0 else self._failed(f"410 {error.message}", delay)
        if error.status == HTTPStatus.FORBIDDEN:
            return self._failed(_spoken(error), self._backoff.after_forbidden(error.retry_after))
        if error.status == HTTPStatus.UNAUTHORIZED and not self._refreshed:
            self._refreshed = True
            if self._link.transport.refresh():
                return self._backoff.after_close()
        return self._failed(_spoken(error), self._backoff.after_failure(error.retry_after))

    def _failed(self, text: str, delay: float) -> float:
        """Says a problem, once for each that is new."""
        if text != self._problem:
            self._problem = text
            self._link.inbox.put(Problem(self.scope, text))
        return delay

    def _well(self) -> None:
        self._refreshed = False
        if self._problem is not None:
            self._problem = None
            self._link.inbox.put(Problem(self.scope, None))


def _spoken(error: Rejected) -> str:
    """The status with its name, and what the server added to it."""
    try:
        name = HTTPStatus(error.status).phrase
    except ValueError:
        name = "error"
    if error.status == HTTPStatus.UNAUTHORIZED:
        return f"401 {name}: the token has expired or is not accepted"
    if name.casefold() in error.message.casefold():
        return f"{error.status} {error.message}"
    return f"{error.status} {name}: {error.message}"
