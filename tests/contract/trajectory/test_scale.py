"""200 sessions with 2,000 commands at once: all of their time is accounted for, and the harness stays small."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.contract.trajectory.running import Machine

pytestmark = [pytest.mark.contract, pytest.mark.long(57)]

SESSIONS, COMMANDS = 200, 10
#: A run that a busy machine made invalid is made again.
TRIES = 3


def test_200_sessions_with_2000_commands(tmp_path: Path) -> None:
    machine = Machine(tmp_path)
    steps: list[dict[str, Any]] = []
    for number in range(COMMANDS):
        steps += [{"kind": "exec", "id": f"c{number}", "script": "true"}, {"kind": "wait", "wait_ms": 5000}]
    profile = machine.profile("many", SESSIONS, steps[:-1], launch={"interval_ms": 50})
    for number in range(TRIES):
        done = machine.run("run", profile, "--out", f"try-{number}", "--quiet")
        if done.returncode != 4:
            break
    result = json.loads((tmp_path / f"try-{number}" / "result.json").read_text())
    one = result["trajectory"]
    assert done.returncode == 0, result["verdict"]["reasons"]
    assert (one["sessions"]["completed"], one["commands"]["completed"]) == (SESSIONS, SESSIONS * COMMANDS)
    assert one["peak_concurrency"] == SESSIONS
    assert one["identity"]["closed"] is True
    assert (one["audits"]["failed"], one["audits"]["unknown"]) == (0, 0)
    sampling = one["sampling"]
    assert (sampling["coverage_ppm"] >= 950_000, sampling["lost"], sampling["leaked"]) == (True, 0, 0)
    assert one["scheduler_delay_ns"]["p99"] <= 3 * 20_000_000
    assert result["process"]["harness"]["rss_peak_bytes"] <= 150 * 2**20
    assert machine.left() == []
