"""Where a run stands, as a person at a terminal sees it."""

from __future__ import annotations

import os
import pty
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.contract.trajectory.running import TOP, Machine

pytestmark = pytest.mark.contract


def test_a_terminal_is_told_of_sessions_memory_and_extra_wait(tmp_path: Path) -> None:
    machine = Machine(tmp_path)
    steps: list[dict[str, Any]] = []
    for at in range(2):
        steps += [{"kind": "exec", "id": f"c{at}", "script": "true"}, {"kind": "wait", "wait_ms": 700}]
    profile = machine.profile("shown", 4, steps, admission={"max_concurrent": 2})
    ours, theirs = pty.openpty()
    with subprocess.Popen(
        [sys.executable, "-m", "perfq", "trajectory", "run", profile, "--out", "shown"],
        env={**os.environ, "PYTHONPATH": str(TOP / "python"), "TMPDIR": str(tmp_path)},
        cwd=tmp_path,
        stdout=subprocess.DEVNULL,
        stderr=theirs,
    ) as run:
        os.close(theirs)
        seen = b""
        try:
            while piece := os.read(ours, 4096):
                seen += piece
        except OSError:
            pass  # the other end is closed
        run.wait(60)
    os.close(ours)
    lines = [line for line in seen.decode().split("\r\x1b[2K") if line]
    assert lines[0].startswith("4 sessions of shown")
    state = re.compile(r"running (\d+) · queued (\d+) · done (\d+) of 4")
    states = [match.groups() for line in lines if (match := state.search(line))]
    assert ("2", "2", "0") in states
    assert ("2", "0", "2") in states
    assert any("extra wait" in line for line in lines)
