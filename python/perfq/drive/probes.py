"""Probe events: a seeded schedule of events beside the plan, on Pods that are on the screen right now.

Each sets the restart count of a visible Pod to a number that appears nowhere else; the sample ends
with the chunk that shows it. Each is followed by an event that restores the plan's value.
"""

from __future__ import annotations

import json
import random
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from perfq.drive.input import Records

if TYPE_CHECKING:
    from perfq._core import TerminalView

#: The number of probe i is FIRST_NUMBER + i.
FIRST_NUMBER = 1_000_000
SEEN_TIMEOUT_S = 5.0
_TICK_S = 0.01


class ProbeTarget(Protocol):
    """What is needed of the server."""

    def probe(self, i: int, ns: str, name: str, number: int) -> Mapping[str, Any] | None:
        """Commits the probe event."""

    def restore(self, i: int, ns: str, name: str) -> Mapping[str, Any] | None:
        """Commits the plan's value again."""


class Cells(Protocol):
    """What is needed of a terminal."""

    def rows(self, view: TerminalView) -> Sequence[Mapping[str, Any]]:
        """The table rows on the screen."""

    def expect_cell(self, i: int, key: tuple[str, str], column: str, text: str, view: TerminalView) -> None:
        """Watches for a cell's content."""

    def seen_cells(self) -> Sequence[Mapping[str, Any]]:
        """Which were seen."""

    def forget_cell(self, i: int) -> object:
        """No longer watches."""


def schedule(seed: int, count: int, seconds: float) -> Iterator[float]:
    """`count` instants in [0, seconds): one in each equal slice, jittered from Random(seed + 1)."""
    rng = random.Random(seed + 1)
    slice_s = seconds / max(count, 1)
    return (slice_s * (i + rng.random()) for i in range(count))


@dataclass(frozen=True)
class ProbePlan:
    """How many probes, over what time, seen how."""

    count: int
    seconds: float
    seed: int
    view: TerminalView


@dataclass
class _Pending:
    ns: str
    name: str
    deadline: float


class ProbeEvents:
    """Commits the probes and their restorations from a thread of its own."""

    def __init__(self, server: ProbeTarget, terminal: Cells, recorder: Records, plan: ProbePlan) -> None:
        self._server = server
        self._terminal = terminal
        self._recorder = recorder
        self._plan = plan
        self._rng = random.Random(plan.seed + 2)
        self._stop = threading.Event()
        self._paused = threading.Event()
        # Held while a probe is sent, so that none slips past `pause`.
        self._sending = threading.Lock()
        self._thread: threading.Thread | None = None
        self._pending: dict[int, _Pending] = {}
        self.sent = 0
        self.seen = 0
        self.error: BaseException | None = None

    def start(self, t0_ns: int) -> None:
        """Begins; t0_ns is the start of the churn."""
        self._thread = threading.Thread(target=self._run, args=(t0_ns,), name="perfq-probes", daemon=True)
        self._thread.start()

    def pause(self) -> None:
        """No new probe until `resume`; those under way are waited for."""
        with self._sending:
            self._paused.set()
        deadline = time.monotonic() + SEEN_TIMEOUT_S + 1
        while self._pending and time.monotonic() < deadline:
            time.sleep(_TICK_S)

    def resume(self) -> None:
        """Goes on after `pause`; probes that became due meanwhile come at once, one a tick."""
        self._paused.clear()

    def finish(self, timeout_s: float) -> None:
        """Waits for the probes that are left, then restores what is still pending."""
        if self._thread is not None:
            self._thread.join(timeout_s)
            self._stop.set()
            self._thread.join(1.0)

    def _run(self, t0_ns: int) -> None:
        try:
            due = list(enumerate(schedule(self._plan.seed, self._plan.count, self._plan.seconds)))
            due.reverse()
            while (due or self._pending) and not self._stop.is_set():
                elapsed = (time.monotonic_ns() - t0_ns) / 1e9
                with self._sending:
                    if due and due[-1][1] <= elapsed and not self._paused.is_set():
                        self._send(due.pop()[0])
                self._settle()
                self._stop.wait(_TICK_S)
        except BaseException as error:
            self.error = error
        try:
            self._give_up()
        except BaseException as error:
            self.error = self.error or error

    def _give_up(self) -> None:
        """Restores what is pending. It was not waited for long enough to be called lost: no outcome is recorded."""
        self._settle()
        for i, pending in list(self._pending.items()):
            self._terminal.forget_cell(i)
            del self._pending[i]
            self._server.restore(i, pending.ns, pending.name)

    def _send(self, i: int) -> None:
        taken = {(pending.ns, pending.name) for pending in self._pending.values()}
        keys = [(row["key"][0], row["key"][1]) for row in self._terminal.rows(self._plan.view)]
        free = sorted({key for key in keys if key not in taken})
        if not free:
            return
        ns, name = self._rng.choice(free)
        number = FIRST_NUMBER + i
        self._terminal.expect_cell(i, (ns, name), "RESTARTS", str(number), self._plan.view)
        committed = self._server.probe(i, ns, name, number)
        if committed is None:
            self._terminal.forget_cell(i)
            return
        self.sent += 1
        self._pending[i] = _Pending(ns, name, time.monotonic() + SEEN_TIMEOUT_S)

    def _settle(self) -> None:
        if not self._pending:
            return
        seen = {cell["i"] for cell in self._terminal.seen_cells()}
        now = time.monotonic()
        for i, pending in list(self._pending.items()):
            if i in seen:
                self.seen += 1
                self._end(i, pending, "seen")
            elif now > pending.deadline:
                self._terminal.forget_cell(i)
                self._end(i, pending, "lost")

    def _end(self, i: int, pending: _Pending, outcome: str) -> None:
        del self._pending[i]
        self._server.restore(i, pending.ns, pending.name)
        record = {
            "k": "probe_end",
            "t": time.monotonic_ns(),
            "i": i,
            "outcome": outcome,
            "ns": pending.ns,
            "name": pending.name,
        }
        self._recorder.write(json.dumps(record))
