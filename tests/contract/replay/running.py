"""Running `perfq replay` as people do: a process, its exit code, its files."""

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
TRIES = 3
TOP = Path(__file__).resolve().parents[3]

#: The beginning of a client in plain Python: `listed` is its LIST of Pods, `watch` its open WATCH.
LIST_AND_WATCH = """
import json, os, ssl, sys, time, urllib.request
config = json.load(open(os.environ["KUBECONFIG"]))
cluster = config["clusters"][0]["cluster"]
import base64
tls = ssl.create_default_context(cadata=base64.b64decode(cluster["certificate-authority-data"]).decode())
headers = {"Authorization": "Bearer " + config["users"][0]["user"]["token"]}
def get(path):
    return urllib.request.urlopen(urllib.request.Request(cluster["server"] + path, headers=headers), context=tls)
listed = json.load(get("/api/v1/pods"))
watch = get("/api/v1/pods?watch=1&resourceVersion=" + listed["metadata"]["resourceVersion"])
"""


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
    """Runs a replay to its end; once more where the machine was too busy for it to prove anything."""
    for _ in range(TRIES):
        existed = out.exists()
        with start(out, *arguments, **environment) as process:
            text, _ = process.communicate(timeout=240)
        ended = Ended(process.returncode, text, out)
        if existed or not too_busy(ended.code, out):
            break
        shutil.rmtree(out)
    return ended


def too_busy(code: int, out: Path) -> bool:
    """Whether a run is invalid since the machine had no time for the schedule: then it is to be run again."""
    result = out / "result.json"
    if code != 4 or not result.exists():
        return False
    return any("the machine is too busy" in reason for reason in json.loads(result.read_text())["verdict"]["reasons"])
