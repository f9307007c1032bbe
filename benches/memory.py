"""How far a process grows from an instant on, by the kernel's own account of its peak: samples miss what is short."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from pathlib import Path

LOOK_EVERY_S = 0.005


def growth(pid: int, started: Callable[[], bool]) -> int | None:
    """Waits until the process has ended. Bytes: its peak from `started` on, beyond what was resident then; None where
    it ended before."""
    at_start, peak = None, 0
    while (seen := _resident(pid)) is not None:
        if at_start is not None:
            peak = max(peak, seen["VmHWM"])
        elif started():
            # proc_pid_clear_refs(5): the peak is from now on.
            Path(f"/proc/{pid}/clear_refs").write_text("5")
            at_start = peak = seen["VmRSS"]
        time.sleep(LOOK_EVERY_S)
    return None if at_start is None else peak - at_start


def _resident(pid: int) -> dict[str, int] | None:
    """VmRSS and VmHWM, bytes; None once the process has ended, also where nobody has asked how."""
    try:
        status = Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return None
    found = {key: int(value) * 1024 for key, value in re.findall(r"^(VmRSS|VmHWM):\s+(\d+) kB$", status, re.MULTILINE)}
    return found or None
