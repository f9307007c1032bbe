"""korvid as a peer: its generator and its harness, in its own Python, where KORVID_SRC names a checkout of it.

Its Python is KORVID_PYTHON, by default `.venv/bin/python` of that checkout. Where there is none, the rows say so.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import tempfile
import time
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from benches.table import NOT_INSTALLED

#: Runs in korvid's Python: the median of three plans with all digests, in seconds.
PLAN = """
import sys, time, statistics
from pathlib import Path
from tests.performance.profile import load_profile
from tests.performance.workload import apply_events, event_digest, initial_pods, scheduled_events, summary_digest
profile = load_profile(Path(sys.argv[1]))
taken = []
for _ in range(3):
    before = time.perf_counter()
    pods, events = initial_pods(profile), scheduled_events(profile)
    summary_digest(pods), event_digest(events), summary_digest(apply_events(pods, events))
    taken.append(time.perf_counter() - before)
print(statistics.median(taken))
"""


@dataclass(frozen=True, slots=True)
class Replay:
    """A run of korvid's harness: its JSON report, and the CPU and wall seconds of its process."""

    report: dict[str, Any]
    cpu_seconds: float
    wall_seconds: float


def installed() -> tuple[Path, Path] | None:
    """(checkout, Python); None where KORVID_SRC names none."""
    source = os.environ.get("KORVID_SRC")
    if not source:
        return None
    python = Path(os.environ.get("KORVID_PYTHON") or Path(source) / ".venv" / "bin" / "python")
    return (Path(source), python) if python.exists() else None


def plan_seconds(profile: str) -> float | str:
    """Its generator and digests for one of its profiles; why not, where it did not work."""
    found = installed()
    if found is None:
        return NOT_INSTALLED
    source, python = found
    path = source / "tests" / "performance" / "profiles" / f"{profile}.json"
    done = subprocess.run([str(python), "-c", PLAN, str(path)], cwd=source, capture_output=True, text=True, check=False)
    return float(done.stdout) if done.returncode == 0 else last_line(done.stderr)


@cache
def replay(profile: str) -> Replay | str:
    """Its own app in its own harness on one of its profiles; why not, where it did not work."""
    found = installed()
    if found is None:
        return NOT_INSTALLED
    source, python = found
    path = source / "tests" / "performance" / "profiles" / f"{profile}.json"
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "report.json"
        before, started = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
        command = [str(python), "-m", "tests.performance.cli", "replay", "--profile", str(path), "--json", str(out)]
        done = subprocess.run(command, cwd=source, capture_output=True, text=True, check=False)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        if not out.is_file():
            return last_line(done.stderr)
        cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        return Replay(json.loads(out.read_text()), cpu, time.monotonic() - started)


def last_line(text: str) -> str:
    """What a failed program said last."""
    lines = text.strip().splitlines()
    return f"peer failed: {lines[-1][:80]}" if lines else "peer failed"
