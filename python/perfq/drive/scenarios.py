"""Scenarios: key sequences, each with the screen that it must lead to in time.

One that does not get there is a failed scenario with the last screen attached, never a skip.
"""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from perfq.drive.input import Records

TIMEOUT_S = 10.0


class Screens(Protocol):
    """What is needed of a terminal."""

    def write(self, data: bytes) -> int:
        """Writes keys; gives the instant."""

    def wait_screen(self, pattern: str, timeout_s: float) -> Mapping[str, Any] | None:
        """The first screen that matches."""

    def screen(self) -> Mapping[str, Any]:
        """The screen now."""


@dataclass(frozen=True)
class Step:
    """Keys, and the pattern of the screen they lead to."""

    name: str
    keys: bytes
    expect: str
    back: bytes = b""
    back_expect: str = ""


def run_scenario(terminal: Screens, recorder: Records, step: Step, timeout_s: float = TIMEOUT_S) -> bool:
    """Runs one scenario and its way back; records it; True where both screens came in time."""
    began = time.monotonic_ns()
    terminal.write(step.keys)
    reached = terminal.wait_screen(step.expect, timeout_s)
    screen = None if reached else "\n".join(terminal.screen()["lines"])
    if step.back:
        terminal.write(step.back)
        if step.back_expect and terminal.wait_screen(step.back_expect, timeout_s) is None and screen is None:
            reached = None
            screen = "\n".join(terminal.screen()["lines"])
    record = {
        "k": "scenario",
        "t": began,
        "name": step.name,
        "ok": reached is not None,
        "screen": screen,
        "done": time.monotonic_ns(),
    }
    recorder.write(json.dumps(record))
    return reached is not None


def run_scenarios(terminal: Screens, recorder: Records, steps: Sequence[Step]) -> int:
    """Runs them in order; gives how many failed."""
    return sum(not run_scenario(terminal, recorder, step) for step in steps)
