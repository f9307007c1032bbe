"""After the churn: the client is given time to show the last events."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from perfq.drive.progress import Progress
    from perfq.drive.signals import Interruption
    from perfq.profile.client import ClientDefinition
    from perfq.replay.session import ReplaySession

_TICK_S = 0.02
#: After the last event a client has this long to show it.
DRAIN_TIMEOUT_S = 15.0
#: Watches to which nothing was written for so long have nothing more to write.
QUIET_S = 0.3


def drain(session: ReplaySession, progress: Progress, interruption: Interruption, expected: str) -> bool:
    """Waits until the client has shown every event, and marks `drained` where it came to that.

    By its probe: its backlog is empty and its digests are the expected one. Without a probe: nothing more
    was written to its watches for a while.
    """
    deadline = time.monotonic() + DRAIN_TIMEOUT_S
    quiet = _Quiet()
    while time.monotonic() < deadline and not interruption.requested:
        if session.options.client.probe:
            drained = _shown(session.probe.progress(), session.options.client, expected)
        else:
            drained = quiet.since(session.server.progress(), time.monotonic()) > QUIET_S
        if drained:
            session.mark("drained")
            return True
        if session.terminal.progress()["exited"] is not None:
            return False
        progress.update("draining")
        interruption.wait(_TICK_S)
    return False


def _shown(probe: Mapping[str, Any], client: ClientDefinition, expected: str) -> bool:
    digest = probe["digest"]
    if probe["backlog"] or digest is None or digest["store"] != expected:
        return False
    return not client.table or bool(digest["table"] == expected)


class _Quiet:
    """For how long nothing was written to the watches that are open."""

    def __init__(self) -> None:
        self._written: int | None = None
        self._changed = 0.0

    def since(self, server: Mapping[str, Any], now: float) -> float:
        """Seconds, from the last reading that differed from the one before."""
        written = sum(watch["events"] for watch in server["watches"] if watch["open"])
        if written != self._written:
            self._written, self._changed = written, now
        return now - self._changed
