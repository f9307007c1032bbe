"""docs/examples/trajectory, run: 80 sessions in five waves, and what sampling on the scheduler's thread costs."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from perfq.measure.result.schema import shipped

pytestmark = [pytest.mark.contract, pytest.mark.long(50)]

TOP = Path(__file__).resolve().parents[3]
EXAMPLES = TOP / "docs" / "examples" / "trajectory"
#: A run that a busy machine made invalid is made again.
TRIES = 3


def perfq(*arguments: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """The command in a process of its own."""
    return subprocess.run(
        [sys.executable, "-m", "perfq", "trajectory", *arguments],
        env={**os.environ, "PYTHONPATH": str(TOP / "python"), "TMPDIR": str(folder)},
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )


def played(name: str, folder: Path) -> tuple[int, dict[str, Any], str]:
    for number in range(TRIES):
        out = folder / f"try-{number}"
        done = perfq("run", str(EXAMPLES / name), "--out", str(out), folder=folder)
        result: dict[str, Any] = json.loads((out / "result.json").read_text())
        if done.returncode != 4:
            break
    jsonschema.Draft202012Validator(json.loads(shipped())).validate(result)
    return done.returncode, result, (out / "report.md").read_text()


def test_eighty_sessions_in_five_waves(tmp_path: Path) -> None:
    code, result, report = played("eighty-in-five-waves.yaml", tmp_path)
    one = result["trajectory"]
    assert code == 0, result["verdict"]["reasons"]
    assert (one["sessions"]["completed"], one["commands"]["completed"]) == (80, one["commands"]["planned"] - 20)
    assert (one["timeouts"], one["commands"]["failed"]) == ({"cleaned": 20, "uncleaned": 0}, 20)
    assert one["peak_concurrency"] == 12
    assert one["queue_ns"]["memory"] > 0
    assert one["queue_ns"]["launch"] > 0
    assert one["identity"]["closed"] is True
    assert (one["audits"]["failed"], one["audits"]["unknown"]) == (0, 0)
    assert one["sampling"]["coverage_ppm"] >= 950_000
    assert one["makespan_ns"] >= 48 * 10**9
    # Each wave is seen: sixteen more have arrived from one to the next.
    arrived = {point["t_ns"] // 12_000_000_000: point["arrived"] for point in one["timeline"]}
    assert [arrived[wave] for wave in range(4)] == [16, 32, 48, 64]
    known = [one["memory_bytes"]["mean"], one["memory_bytes"]["peak"], one["cpu_seconds"], one["extra_wait_ns"]["mean"]]
    assert None not in known
    for row in ("makespan", "admission queue, for memory", "admission queue, for the launch rate", "audits passed"):
        assert f"| {row} |" in report


def test_sampling_on_the_scheduler_s_thread_turns_into_waiting(tmp_path: Path) -> None:
    fewer = ("--set", "trajectories.0.repeat=30", "--set", "arrivals.per_wave=30", "--rounds", "1", "--quiet")
    arms = ("--arm", "sampling.mode=isolated", "--arm", "sampling.mode=inline")
    done = perfq("ab", str(EXAMPLES / "what-sampling-costs.yaml"), *fewer, *arms, "--json", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    isolated, inline = (side["median"] for side in json.loads(done.stdout)["sides"])
    assert inline["extra_wait_ns"]["mean"] > 10 * isolated["extra_wait_ns"]["mean"]
    assert isolated["sampling"]["coverage_ppm"] >= 950_000
    assert isolated["sampling"]["read_ns"]["p50"] >= 30_000_000
    assert inline["scheduler_delay_ns"]["max"] >= 30_000_000
