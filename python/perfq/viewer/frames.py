"""Frames: what came in is applied at most once in 16 ms, and counted once it has been flushed.

Longer than 16 ms only where a frame costs more, so that keys always get at least half of the time.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from perfq.probe import Probe
from perfq.viewer.inbox import Batch, Inbox, Problem
from perfq.viewer.kinds import Scope
from perfq.viewer.store import Changes, Store

__all__ = ["FRAME_SECONDS", "Frames", "Pane", "Rendered"]

FRAME_SECONDS = 0.016
#: A frame takes in batches for so long; more wait for the next, so that a LIST never holds up a key.
_TAKE_SECONDS = 0.008
#: Objects taken out of the inbox at once.
_TAKE_OBJECTS = 250


class Pane(Protocol):
    """A table on the screen, as far as frames need it."""

    @property
    def scope(self) -> Scope:
        """What it shows."""

    def apply(self, changes: Changes) -> int:
        """Takes in what changed; gives the rows that are in its table."""

    @property
    def undrawn(self) -> bool:
        """Whether a visible row waits to be drawn."""


@dataclass(frozen=True, slots=True)
class Rendered:
    """What one frame brought into the table of a scope."""

    scope: Scope
    changes: Changes
    rows: int

    def report(self, probe: Probe) -> None:
        """Says so; called once the frame was flushed."""
        at = time.monotonic_ns()
        kind, namespace, changes = self.scope.kind, self.scope.namespace, self.changes
        if changes.events:
            if changes.coalesced:
                probe.coalesced(kind, namespace, changes.coalesced)
            probe.rendered(kind, namespace, changes.version, len(changes.touched), at)
        if changes.listed is not None:
            probe.populated(kind, namespace, self.rows, at)


@dataclass(frozen=True)
class Hooks:
    """What frames call in the app."""

    problem: Callable[[Problem], None]
    #: Called with the scopes that changed, after each frame that changed any.
    changed: Callable[[Sequence[Scope]], None]
    #: Calls back once all that has been drawn is flushed.
    when_flushed: Callable[[Callable[[], None]], None]
    #: Called with a scope once all rows of its LIST are on the screen; from the thread that flushes.
    populated: Callable[[Scope], None] = lambda _scope: None


class Frames:
    """Takes batches into the store, changes into the panes, and reports."""

    def __init__(self, store: Store, inbox: Inbox, probe: Probe, hooks: Hooks) -> None:
        self._store = store
        self._inbox = inbox
        self._probe = probe
        self._hooks = hooks
        self._wanted = asyncio.Event()
        self._undrawn: list[Rendered] = []
        self.panes: list[Pane] = []
        self.interval = FRAME_SECONDS

    def wake(self) -> None:
        """Something is in the inbox. On the app's thread."""
        self._wanted.set()

    async def run(self) -> None:
        """Frame after frame, while there is anything to do."""
        last = 0.0
        while True:
            await self._wanted.wait()
            left = last + self.interval - time.monotonic()
            await asyncio.sleep(max(0.0, left))
            self._wanted.clear()
            last = time.monotonic()
            self.frame()
            self.interval = max(FRAME_SECONDS, 2 * (time.monotonic() - last))
            if self._inbox.waiting:
                self._wanted.set()

    def frame(self) -> None:
        """One frame."""
        enough = time.monotonic() + _TAKE_SECONDS
        while batches := self._inbox.take(_TAKE_OBJECTS):
            for batch in batches:
                self._take(batch)
            if time.monotonic() > enough:
                break
        changed = self._store.take()
        for scope, changes in changed.items():
            self._show(scope, changes)
        if changed:
            self._hooks.changed(tuple(changed))
            if self._probe.active:
                self._probe.backlog(self._inbox.events)
                self.drawn()

    def drawn(self) -> None:
        """The screen was drawn: what no pane has still to draw is reported once it is flushed."""
        if self._undrawn and not any(pane.undrawn for pane in self.panes):
            ready, self._undrawn = self._undrawn, []
            probe = self._probe

            def report() -> None:
                for rendered in ready:
                    rendered.report(probe)
                    if rendered.changes.listed is not None:
                        self._hooks.populated(rendered.scope)

            self._hooks.when_flushed(report)

    def close(self, scope: Scope) -> None:
        """A scope is no longer shown: its events that no frame has shown are dropped."""
        dropped = self._store.close(scope)
        if dropped:
            self._probe.dropped(scope.kind, scope.namespace, dropped)

    def _take(self, batch: Batch) -> None:
        if isinstance(batch, Problem):
            self._hooks.problem(batch)
        elif dropped := self._store.apply(batch):
            self._probe.dropped(batch.scope.kind, batch.scope.namespace, dropped)

    def _show(self, scope: Scope, changes: Changes) -> None:
        rows = 0
        for pane in self.panes:
            if pane.scope == scope:
                rows = pane.apply(changes)
        if self._probe.active:
            self._undrawn.append(Rendered(scope, changes, rows))
