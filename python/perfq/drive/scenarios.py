"""Scenarios: key sequences, each with the screen that it must lead to in time.

One that does not get there is a failed scenario with the last screen attached, never a skip.
"""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, Protocol

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


def run_scenario(
    terminal: Screens, recorder: Records, step: Step, timeout_s: float = TIMEOUT_S
) -> Literal["expect", "back_expect"] | None:
    """Runs one scenario and its way back; records it; gives which of its screens did not come in time."""
    began, reached = led_to(terminal, step.keys, step.expect, timeout_s)
    missed: Literal["expect", "back_expect"] | None = None if reached else "expect"
    screen = None if reached else _lines(terminal)
    if step.back:
        _, returned = led_to(terminal, step.back, step.back_expect, timeout_s)
        if reached and not returned:
            missed, screen = "back_expect", _lines(terminal)
    record = {
        "k": "scenario",
        "t": began,
        "name": step.name,
        "ok": missed is None,
        "screen": screen,
        "done": time.monotonic_ns(),
    }
    recorder.write(json.dumps(record))
    return missed


def led_to(terminal: Screens, keys: bytes, expect: str, timeout_s: float) -> tuple[int, bool]:
    """When the keys were written, and whether they led to the screen (any, where no pattern says which).

    A client that ended, or that does not read its keys, fails as one does whose screen never comes.
    """
    began = time.monotonic_ns()
    try:
        began = terminal.write(keys)
    except (BrokenPipeError, TimeoutError):
        return began, False
    return began, not expect or terminal.wait_screen(expect, timeout_s) is not None


def _lines(terminal: Screens) -> str:
    return "\n".join(terminal.screen()["lines"])
