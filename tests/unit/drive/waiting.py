"""What the drive tests share: records kept in memory, and waiting with a deadline."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from typing import Any


class Kept:
    """A recorder that keeps its lines."""

    def __init__(self) -> None:
        self.lines: list[dict[str, Any]] = []

    def write(self, record_json: str) -> None:
        self.lines.append(json.loads(record_json))


def wait_for(holds: Callable[[], bool], seconds: float = 20) -> None:
    """Polls until the condition holds; fails where it never does."""
    deadline = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < deadline, "it never happened"
        time.sleep(0.001)
