"""Runs that are ended before they are done: by a signal, by a second one, by kill -9 at a random moment."""

from __future__ import annotations

import json
import random
import signal
import time
from pathlib import Path
from typing import Any

import pytest
from tests.contract.trajectory.running import Machine, lines, until

pytestmark = pytest.mark.contract

#: A process in the background, one that ignores SIGTERM, one that left its group; then a long wait, and a command.
STEPS: list[dict[str, Any]] = [
    {"kind": "exec", "id": "background", "script": "sleep 600 & echo started"},
    {"kind": "exec", "id": "stubborn", "script": "(trap '' TERM; setsid sh -c 'sleep 600' & ) ; echo started"},
    {"kind": "wait", "wait_ms": 400},
    {"kind": "exec", "id": "long", "script": "sleep 600"},
]
SESSIONS = 50


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


def test_a_run_of_50_sessions_that_was_killed_is_reported_and_swept(machine: Machine) -> None:
    many = machine.profile("many", SESSIONS, STEPS)
    short = machine.profile("short", 1, [{"kind": "exec", "id": "c", "script": "true"}])
    killed = machine.start("run", many, "--out", "killed", "--quiet")
    try:
        run = machine.folder / "killed"
        until(lambda: len(lines(run, "tj_state")) >= 2 * SESSIONS)
        time.sleep(random.uniform(0, 3))
        killed.kill()
        killed.wait()
        assert machine.processes()  # there is something to be swept
        report = machine.run("report", "killed")
        assert report.returncode == 0, report.stderr
        assert report.stdout.startswith("ABORTED")
        assert "perfq was killed" in report.stdout
        assert "left behind" in report.stdout
        swept = machine.run("run", short, "--out", "short")
    finally:
        killed.kill()
    assert swept.returncode in (0, 4), swept.stderr
    assert f"was killed: {SESSIONS} sessions of it were ended and removed" in swept.stderr
    until(lambda: not machine.left(), within_s=10)


def test_a_signal_ends_the_run_in_order(machine: Machine) -> None:
    asked = machine.start("run", machine.profile("asked", 8, STEPS), "--out", "asked", "--quiet", "--json")
    until(lambda: len(lines(machine.folder / "asked", "tj_command")) >= 16)
    asked.send_signal(signal.SIGINT)
    out, err = asked.communicate(timeout=60)
    result = json.loads(out)
    assert asked.returncode == 130, err
    assert (result["verdict"]["status"], result["verdict"]["reasons"]) == (
        "ABORTED",
        ["stopped by SIGINT: asked to end"],
    )
    assert (result["trajectory"]["sessions"]["cancelled"], result["cleanup"]["complete"]) == (8, True)
    assert machine.left() == []


def test_pause_and_shutdown_safeguards_a_signal_in_a_frozen_wait_leaves_nothing_frozen(machine: Machine) -> None:
    profile = machine.profile(
        "frozen",
        4,
        [*STEPS[:2], {"kind": "wait", "wait_ms": 600_000}],
        wait={"mode": "freeze"},
        sampling={"mode": "off"},
    )
    frozen = machine.start("run", profile, "--out", "frozen", "--quiet", "--json")
    until(lambda: frozen.poll() is not None or len(lines(machine.folder / "frozen", "tj_command")) >= 8)
    if frozen.poll() == 2:
        pytest.skip("no session can be frozen here")
    time.sleep(0.5)
    frozen.send_signal(signal.SIGINT)
    out, err = frozen.communicate(timeout=60)
    assert frozen.returncode == 130, err
    assert json.loads(out)["cleanup"]["complete"] is True
    assert machine.left() == []


def test_a_second_signal_leaves_at_once_and_the_next_run_sweeps(machine: Machine) -> None:
    steps = [{"kind": "exec", "id": "c", "script": "trap '' TERM; sleep 600 & sleep 600; sleep 600"}]
    profile = machine.profile("twice", 4, steps, command={"timeout_ms": 600_000, "term_grace_ms": 30_000})
    twice = machine.start("run", profile, "--out", "twice")
    until(lambda: len(machine.processes()) >= 8)
    twice.send_signal(signal.SIGINT)
    until(lambda: lines(machine.folder / "twice", "stop"))
    twice.send_signal(signal.SIGINT)
    _, err = twice.communicate(timeout=20)
    assert twice.returncode == 6, err
    assert "perfq: left at once. The next `perfq trajectory run` ends and removes what is left of the sessions" in err
    assert machine.processes()
    machine.run("run", machine.profile("short", 1, [{"kind": "exec", "id": "c", "script": "true"}]), "--out", "short")
    until(lambda: not machine.left(), within_s=10)
