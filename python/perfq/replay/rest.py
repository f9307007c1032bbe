"""After the scenarios: what the client costs when nothing happens, and what a change of its size costs."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from perfq.drive.signals import Interruption
    from perfq.replay.session import ReplaySession

#: Only a run of at least this length is made longer by the idle time.
MIN_RUN_S = 20
IDLE_S = 2.0
RESIZE_TIMEOUT_S = 2.0
SMALLER_COLS, SMALLER_ROWS = 24, 8


def rest_and_resize(session: ReplaySession, interruption: Interruption) -> None:
    """Leaves the client alone for a while (`idle` to `idle_end`), then makes its terminal smaller and as it was.

    Nothing of it for a client that draws no table.
    """
    if session.options.client.rows != "always" or session.terminal.progress()["exited"] is not None:
        return
    if session.options.plan.duration_seconds >= MIN_RUN_S and not interruption.requested:
        session.mark("idle")
        interruption.wait(IDLE_S)
        session.mark("idle_end")
    size = session.options.size
    for cols, rows in ((size.cols - SMALLER_COLS, size.rows - SMALLER_ROWS), (size.cols, size.rows)):
        if interruption.requested or min(cols, rows) < 1:
            return
        seen = session.terminal.resize(cols, rows, RESIZE_TIMEOUT_S)
        record = {"k": "resize", "t": seen["sent"], "cols": cols, "rows": rows, "filled": seen["filled"]}
        session.recorder.write(json.dumps(record))
