"""Input samples: a key is written, and the sample ends when the cursor stands on its new row.

Down/up pairs are spread over the churn, so that every second of it is sampled. A key without effect
is a sample too: it is censored at the time-out, so that a client that is stuck cannot escape.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Protocol

if TYPE_CHECKING:
    from perfq._core import TerminalView

KEY_TIMEOUT_S = 5.0


class Presses(Protocol):
    """What is needed of a terminal."""

    def press(
        self, key: bytes, direction: Literal["down", "up"], view: TerminalView, timeout_s: float
    ) -> Mapping[str, Any]:
        """Writes a key and waits for the cursor to reach its new row."""


class Records(Protocol):
    """What is needed of a recorder."""

    def write(self, record_json: str) -> None:
        """Appends one line."""


@dataclass(frozen=True)
class InputPlan:
    """How many pairs, over what time, with which keys."""

    pairs: int
    seconds: float
    keys: Mapping[str, bytes]
    view: TerminalView


class InputSampler:
    """Presses the pairs from a thread of its own, at instants fixed from the start of the churn."""

    def __init__(self, terminal: Presses, recorder: Records, plan: InputPlan) -> None:
        self._terminal = terminal
        self._recorder = recorder
        self._plan = plan
        self._stop = threading.Event()
        self._clear = threading.Event()
        self._clear.set()
        # Held while a pair is taken: whoever holds it knows that no key is under way.
        self._pressing = threading.Lock()
        self._thread: threading.Thread | None = None
        self.done_pairs = 0
        self.error: BaseException | None = None

    @property
    def remaining(self) -> int:
        """Pairs that were not taken yet."""
        return self._plan.pairs - self.done_pairs

    @property
    def finished(self) -> bool:
        """True when no more pairs will be taken."""
        return self._thread is not None and not self._thread.is_alive()

    def start(self, t0_ns: int) -> None:
        """Begins; t0_ns is the start of the churn."""
        self._thread = threading.Thread(target=self._run, args=(t0_ns,), name="perfq-input", daemon=True)
        self._thread.start()

    def pause(self) -> None:
        """Returns when no key is under way and none will be written until `resume`."""
        self._clear.clear()
        if self._pressing.acquire(timeout=2 * KEY_TIMEOUT_S + 1):
            self._pressing.release()

    def resume(self) -> None:
        """Goes on after `pause`; pairs that became due meanwhile come at once, one after the other."""
        self._clear.set()

    def stop(self) -> None:
        """Ends after the pair that is under way."""
        self._stop.set()
        self._clear.set()
        if self._thread is not None:
            self._thread.join(2 * KEY_TIMEOUT_S + 1)

    def _run(self, t0_ns: int) -> None:
        try:
            every_ns = round(self._plan.seconds * 1e9 / max(self._plan.pairs, 1))
            for pair in range(self._plan.pairs):
                due_ns = t0_ns + pair * every_ns
                if self._stop.wait(max(0.0, (due_ns - time.monotonic_ns()) / 1e9)):
                    return
                if not self._take(pair):
                    return
                self.done_pairs += 1
        except BaseException as error:
            self.error = error

    def _take(self, pair: int) -> bool:
        """Waits until it may press, and takes the pair; False where it was stopped."""
        while True:
            self._clear.wait()
            with self._pressing:
                if self._stop.is_set():
                    return False
                if self._clear.is_set():  # else `pause` came in between
                    self._pair(pair)
                    return True

    def _pair(self, pair: int) -> None:
        home: object = None
        directions: tuple[Literal["down", "up"], ...] = ("down", "up")
        for direction in directions:
            began = time.monotonic_ns()
            seen = self._terminal.press(self._plan.keys[direction], direction, self._plan.view, KEY_TIMEOUT_S)
            outcome = str(seen["outcome"])
            if direction == "down":
                home = seen["before"]
            elif outcome == "ok" and seen["after"] != home:
                outcome = "drifted"
            record = {
                "k": "input",
                "t": began if seen["sent"] is None else seen["sent"],
                "pair": pair,
                "key": direction,
                "seen": seen["seen"],
                "outcome": outcome if outcome in ("ok", "censored") else "failed",
            }
            self._recorder.write(json.dumps(record))
