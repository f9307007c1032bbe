"""Digests of store and table, once the app has been quiet for a while after a change."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from perfq.probe import Probe
from perfq.viewer.digest import store_digest, table_digest
from perfq.viewer.pane import TablePane
from perfq.viewer.store import Store

__all__ = ["QUIET_SECONDS", "DigestReport"]

QUIET_SECONDS = 0.25


class DigestReport:
    """Reports both digests after each change that is followed by quiet. Hashes in a thread."""

    def __init__(self, store: Store, probe: Probe, pane: Callable[[], TablePane]) -> None:
        self._store = store
        self._probe = probe
        self._pane = pane
        self._timer: asyncio.TimerHandle | None = None

    def changed(self) -> None:
        """The Pods are others now."""
        if not self._probe.active:
            return
        if self._timer is not None:
            self._timer.cancel()
        self._timer = asyncio.get_running_loop().call_later(QUIET_SECONDS, self._quiet)

    def _quiet(self) -> None:
        self._timer = None
        pane = self._pane()
        kind = pane.scope.kind
        # Both copies are of the same instant: no frame comes between them.
        objects = dict(self._store.objects(pane.scope))
        rows = dict(pane.model.rows)

        def report() -> None:
            self._probe.digest(kind, store_digest(objects), table_digest(rows))

        asyncio.get_running_loop().run_in_executor(None, report)
