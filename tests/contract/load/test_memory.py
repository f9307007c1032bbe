"""What a replay needs does not grow with its length."""

from __future__ import annotations

from pathlib import Path

import pytest
from benches.memory import growth
from tests.contract.load.against import start
from tests.contract.load.conftest import Starts
from tests.contract.load.traces import write_trace

pytestmark = [pytest.mark.contract, pytest.mark.alone]

MIB = 1 << 20
#: Requests/s, which the server keeps up with easily: what waits for a slot is held in memory and would count.
RATE = 4_000


def grown(contrary: Starts, folder: Path, requests: int) -> int:
    """Peak resident bytes from T0 to the end of the process, reports included, beyond those at T0."""
    server = contrary()
    trace = write_trace(folder / f"{requests}.trace", requests, RATE)
    running = start(folder / f"run-{requests}", server, trace, "--yes")
    bytes_ = growth(running.process.pid, lambda: bool(running.recorded("load_segment")))
    ended = running.ended()
    assert ended.load["planned"] == requests, ended.explain()
    assert ended.load["ok"] == requests, ended.load
    assert bytes_ is not None
    return bytes_


def test_ten_times_as_many_requests_need_no_more_memory(contrary: Starts, tmp_path: Path) -> None:
    few, many = grown(contrary, tmp_path, 8_000), grown(contrary, tmp_path, 80_000)
    told = f"{many / MIB:.1f} MiB for ten times the requests, {few / MIB:.1f} MiB for a tenth"
    assert many <= 16 * MIB, told
    # What a process holds at T0 differs by two and a half from run to run; 60 bytes a request would show.
    assert many - few <= 4 * MIB, told
