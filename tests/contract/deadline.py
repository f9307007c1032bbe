"""Waiting for what other programs do: polled, with a deadline that only a hanging one meets."""

from __future__ import annotations

import time
from collections.abc import Callable


def wait_for(holds: Callable[[], bool], seconds: float = 60) -> bool:
    """Polls until the condition holds; False once the deadline has passed."""
    deadline = time.monotonic() + seconds
    while not holds():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.02)
    return True
