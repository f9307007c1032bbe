"""From the watch threads to the app: batches through one queue, with one wake-up for many."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

from perfq.viewer.kinds import Scope
from perfq.viewer.objects import Key, Record

__all__ = ["Batch", "Events", "Inbox", "ListComplete", "ListPage", "ListStarted", "Problem"]

#: Objects that may wait for the app; a watch thread that meets a full inbox stops reading its socket.
CAPACITY = 20_000


@dataclass(frozen=True, slots=True)
class ListStarted:
    """The first page of a LIST was asked for."""

    scope: Scope


@dataclass(frozen=True, slots=True)
class ListPage:
    """One page of a LIST."""

    scope: Scope
    records: list[Record]


@dataclass(frozen=True, slots=True)
class ListComplete:
    """The LIST is complete: what it did not hold is gone."""

    scope: Scope
    version: str
    objects: int


@dataclass(frozen=True, slots=True)
class Events:
    """Watch events in their order; the record is None for DELETED. `version` is the last one's."""

    scope: Scope
    changes: list[tuple[Key, Record | None]]
    version: str


@dataclass(frozen=True, slots=True)
class Problem:
    """What is wrong with a scope, in one line; None: nothing any more."""

    scope: Scope
    text: str | None


Batch = ListStarted | ListPage | ListComplete | Events | Problem


def _cost(batch: Batch) -> int:
    if isinstance(batch, ListPage):
        return len(batch.records)
    return len(batch.changes) if isinstance(batch, Events) else 0


class Inbox:
    """A bounded queue. `put` is for threads and may wait; `take` is for the app and never does."""

    def __init__(self, wake: Callable[[], None], *, capacity: int = CAPACITY) -> None:
        """`wake` is called from a watch thread whenever something came into an inbox at rest."""
        self._wake = wake
        self._capacity = capacity
        self._batches: deque[Batch] = deque()
        self._objects = 0
        self._events = 0
        self._room = threading.Condition()
        self._closed = False

    @property
    def events(self) -> int:
        """Watch events that wait."""
        return self._events

    def put(self, batch: Batch) -> bool:
        """Adds a batch, waiting for room; False once the inbox is closed."""
        cost = _cost(batch)
        with self._room:
            while not self._closed and self._objects and self._objects + cost > self._capacity:
                self._room.wait()
            if self._closed:
                return False
            at_rest = not self._batches
            self._batches.append(batch)
            self._objects += cost
            if isinstance(batch, Events):
                self._events += cost
        if at_rest:
            self._wake()
        return True

    def take(self, objects: int) -> list[Batch]:
        """Takes batches until that many objects are taken (the last one whole)."""
        taken: list[Batch] = []
        count = 0
        with self._room:
            while self._batches and count < objects:
                batch = self._batches.popleft()
                cost = _cost(batch)
                count += cost
                self._objects -= cost
                if isinstance(batch, Events):
                    self._events -= cost
                taken.append(batch)
            if taken:
                self._room.notify_all()
        return taken

    @property
    def waiting(self) -> bool:
        """Whether there is anything to take."""
        return bool(self._batches)

    def close(self) -> None:
        """Lets waiting threads go."""
        with self._room:
            self._closed = True
            self._room.notify_all()
