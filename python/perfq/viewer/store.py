"""The one store: what the API server holds, as far as it was told. Owned by the app's thread."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from perfq.viewer.inbox import Batch, Events, ListComplete, ListPage, ListStarted
from perfq.viewer.kinds import Scope
from perfq.viewer.objects import Key, Record

__all__ = ["Changes", "Store"]


@dataclass(slots=True)
class Changes:
    """What changed in one scope since the last frame, the latest state of each object only.

    `events` and `touched` are of watch events alone: `events - len(touched)` were overtaken by a later
    event of the same object before a frame showed them.
    """

    objects: dict[Key, Record | None] = field(default_factory=dict)
    touched: set[Key] = field(default_factory=set)
    events: int = 0
    version: str = ""
    listed: int | None = None

    @property
    def coalesced(self) -> int:
        """Events that no frame will show, since a later one of the same object is in it."""
        return self.events - len(self.touched)


class _ScopeObjects:
    """The objects of one scope, and the keys of a LIST under way."""

    __slots__ = ("complete", "listing", "objects")

    def __init__(self) -> None:
        self.objects: dict[Key, Record] = {}
        self.listing: set[Key] | None = None
        self.complete = False


class Store:
    """Objects by scope and key."""

    def __init__(self) -> None:
        self._scopes: dict[Scope, _ScopeObjects] = {}
        self._changes: dict[Scope, Changes] = {}

    def open(self, scope: Scope) -> None:
        """From now on the scope is kept."""
        self._scopes.setdefault(scope, _ScopeObjects())

    def close(self, scope: Scope) -> int:
        """Forgets the scope; gives the number of its events that no frame has shown."""
        self._scopes.pop(scope, None)
        left = self._changes.pop(scope, None)
        return left.events if left is not None else 0

    def objects(self, scope: Scope) -> Mapping[Key, Record]:
        """What is held of the scope."""
        held = self._scopes.get(scope)
        return held.objects if held is not None else {}

    def complete(self, scope: Scope) -> bool:
        """Whether the scope's LIST has been complete once."""
        held = self._scopes.get(scope)
        return held is not None and held.complete

    def apply(self, batch: Batch) -> int:
        """Takes a batch in; gives the events of it that are of no scope any more (dropped)."""
        held = self._scopes.get(batch.scope)
        if held is None:
            return len(batch.changes) if isinstance(batch, Events) else 0
        if isinstance(batch, Events):
            self._events(held, batch)
        elif isinstance(batch, ListPage):
            self._page(held, batch)
        elif isinstance(batch, ListStarted):
            held.listing = set()
        elif isinstance(batch, ListComplete):
            self._completed(held, batch)
        return 0

    def take(self) -> dict[Scope, Changes]:
        """What changed since the last call."""
        changes, self._changes = self._changes, {}
        return changes

    @property
    def changed(self) -> bool:
        """Whether there is anything to take."""
        return bool(self._changes)

    def _of(self, scope: Scope) -> Changes:
        changes = self._changes.get(scope)
        if changes is None:
            changes = self._changes[scope] = Changes()
        return changes

    def _events(self, held: _ScopeObjects, batch: Events) -> None:
        changes = self._of(batch.scope)
        changes.events += len(batch.changes)
        changes.version = batch.version
        objects = held.objects
        for key, record in batch.changes:
            changes.touched.add(key)
            changes.objects[key] = record
            if record is None:
                objects.pop(key, None)
            else:
                objects[key] = record

    def _page(self, held: _ScopeObjects, batch: ListPage) -> None:
        changes = self._of(batch.scope)
        relist = held.complete
        for record in batch.records:
            key = record.key
            if held.listing is not None:
                held.listing.add(key)
            if relist and held.objects.get(key) == record:
                continue
            held.objects[key] = record
            changes.objects[key] = record

    def _completed(self, held: _ScopeObjects, batch: ListComplete) -> None:
        changes = self._of(batch.scope)
        listed = held.listing
        if listed is not None and len(listed) != len(held.objects):
            for key in [key for key in held.objects if key not in listed]:
                del held.objects[key]
                changes.objects[key] = None
        held.listing = None
        held.complete = True
        changes.listed = batch.objects
