"""Running `perfq replay` as people do: a process, its exit code, its files."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jsonschema

from perfq.measure.result.schema import shipped

TOP = Path(__file__).resolve().parents[3]


@dataclass(frozen=True)
class Ended:
    """A run that has ended."""

    code: int
    text: str
    out: Path

    @property
    def result(self) -> dict[str, Any]:
        """result.json, which has to fit its schema."""
        document: dict[str, Any] = json.loads((self.out / "result.json").read_text())
        jsonschema.validate(document, json.loads(shipped()))
        return document

    def explain(self) -> str:
        """What a failing test prints."""
        return f"exit {self.code}\n{self.text[-4000:]}"


def start(out: Path, *arguments: str, **environment: str) -> subprocess.Popen[str]:
    """Starts a replay into `out`."""
    command = [sys.executable, "-m", "perfq", "replay", "--out", str(out), *arguments]
    return subprocess.Popen(
        command,
        env={**os.environ, "PYTHONPATH": str(TOP / "python"), **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def replay(out: Path, *arguments: str, **environment: str) -> Ended:
    """Runs a replay to its end."""
    with start(out, *arguments, **environment) as process:
        text, _ = process.communicate(timeout=240)
    return Ended(process.returncode, text, out)
