"""The command, told to end: once, and at once; what it has frozen runs again on either way out."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator

import pytest
from tests.unit.trajectory.plans import command, plan, wait
from tests.unit.trajectory.runs import Runs

#: What a machine that is busy needs.
PATIENCE_S = 60


@pytest.fixture
def frozen(grouped: Runs) -> Iterator[subprocess.Popen[str]]:
    """`perfq trajectory run` in a process of its own, with three sessions that are frozen for ten minutes."""
    steps = [command("sleep 600 &"), wait(600_000)]
    session = {"schema": "perfq.trajectory/v1", "id": "s", "steps": steps}
    (grouped.top / "s.json").write_text(json.dumps(session))
    profile = {
        "schema": "perfq.trajectory-profile/v1",
        "name": "frozen",
        "trajectories": [{"path": "s.json", "repeat": 3}],
        "arrivals": {"mode": "waves", "waves": 1, "per_wave": 3, "interval_ms": 0},
        "wait": {"mode": "freeze"},
    }
    (grouped.top / "p.json").write_text(json.dumps(profile))
    argv = [sys.executable, "-m", "perfq", "trajectory", "run", "p.json", "--out", "out"]
    env = {**os.environ, "TMPDIR": str(grouped.top)}
    with subprocess.Popen(argv, cwd=grouped.top, env=env, text=True, stderr=subprocess.PIPE) as process:
        until = time.monotonic() + PATIENCE_S
        while not frozen_all(grouped, 3) and time.monotonic() < until:
            time.sleep(0.01)
        yield process
        process.kill()


def frozen_all(runs: Runs, count: int) -> bool:
    return runs.frozen() and len(list(runs.top.glob("perfq-sessions-*/*/session-*"))) == count


def test_pause_and_shutdown_safeguards_sigint_in_frozen_waits_leaves_nothing_frozen_and_nothing_behind(
    grouped: Runs, frozen: subprocess.Popen[str]
) -> None:
    frozen.send_signal(signal.SIGINT)
    assert frozen.wait(PATIENCE_S) == 130
    assert grouped.left() == []
    assert "ABORTED" in (grouped.top / "out" / "report.md").read_text()


def test_pause_and_shutdown_safeguards_a_second_signal_leaves_at_once_and_nothing_is_frozen(
    grouped: Runs, frozen: subprocess.Popen[str]
) -> None:
    assert grouped.frozen()
    frozen.send_signal(signal.SIGINT)
    frozen.send_signal(signal.SIGTERM)
    assert frozen.wait(PATIENCE_S) == 6
    assert not grouped.frozen()
    grouped.play(plan([command("true")]))
    assert grouped.left() == []
