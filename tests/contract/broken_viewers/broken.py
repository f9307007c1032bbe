"""The reference client with one method replaced: `python broken.py NAME [the viewer's arguments]`.

Each replacement is a bug that a real client could have. The product has no switch for any of them.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Mapping
from typing import Any

from perfq.viewer.app import ViewerApp
from perfq.viewer.backoff import Backoff
from perfq.viewer.frames import Frames
from perfq.viewer.kinds import Cells, Kind, Usage
from perfq.viewer.main import main
from perfq.viewer.metrics import MetricsPoll
from perfq.viewer.objects import Record
from perfq.viewer.row_table import RowTable
from perfq.viewer.transport import Rejected
from perfq.viewer.watch import ScopeWatcher


def no_relist_after_410() -> None:
    """Asks again and again for the version that is gone."""
    after = ScopeWatcher._after

    def insists(self: ScopeWatcher, error: Rejected) -> float:
        version = self._version
        delay = after(self, error)
        self._version = version
        return max(delay, 1.0)

    ScopeWatcher._after = insists  # type: ignore[method-assign]


def watches_from_now_after_410() -> None:
    """Takes up the watch at "any version" instead of listing: what was deleted in the gap stays."""
    after = ScopeWatcher._after

    def goes_on(self: ScopeWatcher, error: Rejected) -> float:
        if error.status == 410:
            self._version = "0"
            return 0.0
        return after(self, error)

    ScopeWatcher._after = goes_on  # type: ignore[method-assign]


def hammers_after_429() -> None:
    """Asks again at once, whatever Retry-After says."""
    Backoff.after_failure = lambda _self, _retry_after=0.0: 0.02  # type: ignore[method-assign,assignment]


def fans_out_after_403() -> None:
    """Refused for all, it asks for each namespace."""
    after = ScopeWatcher._after

    def fans_out(self: ScopeWatcher, error: Rejected) -> float:
        if error.status == 403:
            for number in range(20):
                try:
                    self._link.transport.get(f"/api/v1/namespaces/bench-{number:04d}/pods", {"limit": "500"})
                except Rejected:
                    continue
            return 2.0
        return after(self, error)

    ScopeWatcher._after = fans_out  # type: ignore[method-assign]


def blocks_on_slow() -> None:
    """Asks the server on the app's thread before it moves the cursor."""
    move = RowTable.action_move

    def asks_first(self: RowTable, rows: int) -> None:
        self.app.transport.get("/version")  # type: ignore[attr-defined]
        move(self, rows)

    RowTable.action_move = asks_first  # type: ignore[method-assign]


def polls_faster_after_503() -> None:
    """Without an answer it asks for metrics five times a second."""

    def hurries(self: MetricsPoll) -> None:
        while not self._stopped.is_set():
            answer = self.ask()
            self._answer(answer)
            self._stopped.wait(0.2 if answer.problem else 5.0)

    MetricsPoll._run = hurries  # type: ignore[method-assign]


def stands_still_under_a_log() -> None:
    """Takes nothing in while another screen covers the table."""
    frame = Frames.frame

    def waits(self: Frames) -> None:
        app: ViewerApp = self._hooks.changed.__self__  # type: ignore[attr-defined]
        if len(app.screen_stack) == 1:
            frame(self)

    Frames.frame = waits  # type: ignore[method-assign]


def swallows_one_event() -> None:
    """Loses the first event that it reads, and says nothing of it."""
    take = ScopeWatcher._take
    swallowed = threading.Event()

    def loses(self: ScopeWatcher, lines: list[bytes], at: int) -> None:
        for number, line in enumerate(lines):
            if not swallowed.is_set() and b'"MODIFIED"' in line[:40]:
                swallowed.set()
                lines = lines[:number] + lines[number + 1 :]
                break
        take(self, lines, at)

    ScopeWatcher._take = loses  # type: ignore[method-assign]


def renders_wrong_data() -> None:
    """Shows one restart too many for one Pod in a hundred."""
    cells = Kind.cells

    def wrong(self: Kind, record: Record, usage: Mapping[str, Usage]) -> Cells:
        row = cells(self, record, usage)
        if self.name == "pods" and record.name.endswith("42"):
            return (*row[:4], int(row[4]) + 1, *row[5:])
        return row

    Kind.cells = wrong  # type: ignore[method-assign]


BROKEN: dict[str, Callable[[], None]] = {
    replace.__name__.replace("_", "-"): replace
    for replace in (
        no_relist_after_410,
        watches_from_now_after_410,
        hammers_after_429,
        fans_out_after_403,
        blocks_on_slow,
        polls_faster_after_503,
        stands_still_under_a_log,
        swallows_one_event,
        renders_wrong_data,
    )
}


def run(arguments: list[Any]) -> None:
    """Breaks the viewer as the first argument says and runs it with the others."""
    BROKEN[arguments[0]]()
    main(arguments[1:])


if __name__ == "__main__":
    run(sys.argv[1:])
