"""Waiting for the client: its scopes are watched, its table is populated, its screen shows rows."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from perfq.drive.ready import SCREEN_GRACE_NS, scopes_ready

if TYPE_CHECKING:
    from perfq.drive.progress import Progress
    from perfq.drive.signals import Interruption
    from perfq.replay.session import ReplaySession

_TICK_S = 0.02


def await_ready(session: ReplaySession, progress: Progress, interruption: Interruption) -> bool:
    """True once the client is ready and populated. Else why it is not is recorded (`not_ready`)."""
    options = session.options
    deadline = time.monotonic() + options.ready_timeout_s
    declared = options.client.scopes
    missing = "nothing yet"
    while time.monotonic() < deadline and not interruption.requested:
        exited = session.terminal.progress()["exited"]
        if exited is not None:
            return _not_ready(session, f"it ended before it was ready ({_exit_text(exited)})")
        now_ns = time.monotonic_ns()
        state = scopes_ready(declared, session.server.progress(), now_ns)
        if state.ready_ns is None:
            missing = state.missing or missing
        else:
            lacking = _not_populated(session, now_ns - state.ready_ns)
            if lacking is None:
                session.mark("populated")
                return True
            missing = lacking
        progress.update(f"waiting for the client: {missing}")
        interruption.wait(_TICK_S)
    if interruption.requested:
        return False
    return _not_ready(session, f"it was not ready within {options.ready_timeout_s:g} s: {missing}")


def _not_ready(session: ReplaySession, why: str) -> bool:
    screen = session.keep_last_screen()
    session.mark("not_ready", why=f"{why}; its last screen is in {screen}")
    return False


def _exit_text(exited: Mapping[str, Any]) -> str:
    if exited.get("signal"):
        return f"killed by signal {exited['signal']}"
    return f"exit code {exited.get('code')}"


def _not_populated(session: ReplaySession, since_ready_ns: int) -> str | None:
    """What is still to be seen of a client whose scopes are ready; None when it is populated."""
    client = session.options.client
    if client.probe:
        probe = session.probe.progress()
        if not any(one["kind"] == "pods" for one in probe["lists"]):
            return "its LIST is not complete (probe)"
        if client.table and probe["populated"] is None:
            return "its table is not populated (probe)"
        if client.table and probe["interactive_ns"] is None:
            return "it is not interactive (probe)"
    seen = session.terminal.progress()["milestones"]
    if client.ready is not None and seen["ready"] is None:
        return "its screen does not match the pattern `ready`"
    if client.rows == "never" or seen["populated"] is not None:
        return None
    rows = len(session.terminal.rows(session.view))
    if client.rows == "maybe" and since_ready_ns > SCREEN_GRACE_NS:
        session.mark("no_rows", rows=rows)
        return None
    return f"its screen shows {rows} rows of at least {session.rows_wanted}"
