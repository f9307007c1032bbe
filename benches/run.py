"""A replay as a measurement: its result, read by dotted path."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any


@dataclass(frozen=True, slots=True)
class Replayed:
    """result.json of a replay and the wall seconds of the whole command; an empty result where it left none."""

    result: dict[str, Any]
    wall_seconds: float
    verdict: str

    def figure(self, path: str, scale: float = 1.0) -> float | None:
        """The number at a dotted path times `scale`; None where the run does not have it."""
        value: Any = self.result
        for part in path.split("."):
            value = value.get(part) if isinstance(value, dict) else None
        return None if value is None else float(value) * scale


@cache
def replayed(profile: str, *flags: str) -> Replayed:
    """`perfq replay PROFILE FLAGS`, once."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "run"
        perfq = Path(sys.executable).with_name("perfq")
        started = time.monotonic()
        command = [str(perfq), "replay", profile, "--quiet", "--out", str(out), *flags]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        wall = time.monotonic() - started
        path = out / "result.json"
        if not path.is_file():
            said = done.stderr.strip().splitlines() or ["nothing said"]
            return Replayed({}, wall, f"no result (exit {done.returncode}): {said[-1][:80]}")
        result: dict[str, Any] = json.loads(path.read_text())
        return Replayed(result, wall, str(result["verdict"]["status"]))
