"""Running `perfq load` as people do: a process, its exit code, its files."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jsonschema

from perfq.measure.result.schema import shipped

#: A shared machine may be busy for a while.
TRIES = 5
TOP = Path(__file__).resolve().parents[3]
EXAMPLES = TOP / "docs" / "examples" / "load"


@dataclass(frozen=True)
class Ended:
    """A command that has ended; `out` is the run directory where it has one."""

    code: int
    stdout: str
    stderr: str
    out: Path

    @property
    def result(self) -> dict[str, Any]:
        """result.json, which has to fit its schema."""
        document: dict[str, Any] = json.loads((self.out / "result.json").read_text())
        jsonschema.validate(document, json.loads(shipped()))
        return document

    def explain(self) -> str:
        """What a failing test prints."""
        return f"exit {self.code}\n{self.stdout[-4000:]}\n{self.stderr[-4000:]}"


def start(*arguments: str, **environment: str) -> subprocess.Popen[str]:
    """Starts `perfq load ARGUMENTS`."""
    return subprocess.Popen(
        [sys.executable, "-m", "perfq", "load", *arguments],
        env={**os.environ, "PYTHONPATH": str(TOP / "python"), **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        stdin=subprocess.DEVNULL,
        text=True,
    )


def load(out: Path, *arguments: str, **environment: str) -> Ended:
    """Runs `perfq load run` into `out`; once more where the machine was too busy for it to prove anything."""
    for _ in range(TRIES):
        existed = out.exists()
        ended = command("run", "--out", str(out), *arguments, out=out, **environment)
        if existed or not too_busy(ended):
            break
        shutil.rmtree(out)
    return ended


def command(*arguments: str, out: Path = Path(), **environment: str) -> Ended:
    """Runs any command of `perfq load` to its end."""
    with start(*arguments, **environment) as process:
        stdout, stderr = process.communicate(timeout=240)
    return Ended(process.returncode, stdout, stderr, out)


def too_busy(ended: Ended) -> bool:
    """Whether the generator was late since the machine had no time for it: then it is to be run again."""
    if ended.code != 4 or not (ended.out / "result.json").exists():
        return False
    return was_late(ended.result)


def was_late(result: dict[str, Any]) -> bool:
    """Whether the verdict names a generator that was late by its own doing."""
    return any("the generator was late" in reason for reason in result["verdict"]["reasons"])
