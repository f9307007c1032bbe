"""What a replay needs does not grow with its length."""

from __future__ import annotations

import re
import time
from pathlib import Path

import pytest
from tests.contract.load.against import start
from tests.contract.load.conftest import Starts
from tests.contract.load.traces import write_trace

pytestmark = [pytest.mark.contract, pytest.mark.alone]

MIB = 1 << 20
#: Requests/s, which the server keeps up with easily: what waits for a slot is held in memory and would count.
RATE = 4_000


def resident(pid: int) -> int | None:
    """Bytes; None once the process has ended."""
    try:
        found = re.search(r"VmRSS:\s+(\d+) kB", Path(f"/proc/{pid}/status").read_text())
    except OSError:
        return None
    return int(found[1]) * 1024 if found else None


def grown(contrary: Starts, folder: Path, requests: int) -> int:
    """Peak resident bytes from T0 to the end of the process, reports included, beyond those at T0."""
    server = contrary()
    trace = write_trace(folder / f"{requests}.trace", requests, RATE)
    running = start(folder / f"run-{requests}", server, trace, "--yes")
    at_start: int | None = None
    peak = 0
    while (now := resident(running.process.pid)) is not None:
        if at_start is None and running.recorded("load_segment"):
            at_start = now
        peak = max(peak, now) if at_start is not None else 0
        if running.process.poll() is not None:
            break
        time.sleep(0.05)
    ended = running.ended()
    assert ended.load["planned"] == requests, ended.explain()
    assert ended.load["ok"] == requests, ended.load
    assert at_start is not None
    return peak - at_start


def test_ten_times_as_many_requests_need_no_more_memory(contrary: Starts, tmp_path: Path) -> None:
    few, many = grown(contrary, tmp_path, 8_000), grown(contrary, tmp_path, 80_000)
    told = f"{many / MIB:.1f} MiB for ten times the requests, {few / MIB:.1f} MiB for a tenth"
    assert many <= 16 * MIB, told
    assert many - few <= 2 * MIB, told
