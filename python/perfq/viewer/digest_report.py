"""Digests of store and table, once all has been quiet for a while after a change."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping

from perfq.probe import Probe
from perfq.viewer.digest import store_digest, table_digest
from perfq.viewer.kinds import Cells, Scope
from perfq.viewer.objects import Key
from perfq.viewer.store import Store

__all__ = ["QUIET_SECONDS", "DigestReport"]

QUIET_SECONDS = 0.25


class DigestReport:
    """Reports the digests after each change that is followed by quiet. Hashes in a thread."""

    def __init__(self, store: Store, probe: Probe, rows: Callable[[], Mapping[Key, Cells] | None]) -> None:
        """`rows` gives the table's rows; None where there is no table."""
        self._store = store
        self._probe = probe
        self._rows = rows
        self._timer: asyncio.TimerHandle | None = None

    def changed(self, scope: Scope) -> None:
        """The Pods of this scope are others now."""
        if not self._probe.active:
            return
        if self._timer is not None:
            self._timer.cancel()
        self._timer = asyncio.get_running_loop().call_later(QUIET_SECONDS, self._quiet, scope)

    def _quiet(self, scope: Scope) -> None:
        self._timer = None
        # Both copies are of the same instant: no frame comes between them.
        objects = dict(self._store.objects(scope))
        held = self._rows()
        rows = None if held is None else dict(held)

        def report() -> None:
            self._probe.digest(scope.kind, store_digest(objects), None if rows is None else table_digest(rows))

        asyncio.get_running_loop().run_in_executor(None, report)
