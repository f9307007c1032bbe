"""Running `perfq trajectory` as people do: a process, its exit code, its files, and what is left on the machine."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from perfq.trajectory.cgroup import places

TOP = Path(__file__).resolve().parents[3]
EXAMPLES = TOP / "docs" / "examples" / "trajectory"
_COMMAND = [sys.executable, "-m", "perfq", "trajectory"]


@dataclass(frozen=True)
class Machine:
    """The command, with a temporary folder of the test's own."""

    folder: Path

    def start(self, *arguments: str) -> subprocess.Popen[str]:
        """In the background."""
        return subprocess.Popen(
            [*_COMMAND, *arguments],
            env=self._environment(),
            cwd=self.folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def run(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """To its end."""
        return subprocess.run(
            [*_COMMAND, *arguments],
            env=self._environment(),
            cwd=self.folder,
            capture_output=True,
            text=True,
            timeout=600,
            check=False,
        )

    def left(self) -> list[str]:
        """Processes by marker, cgroups and workspaces of this test's runs."""
        manifests = [json.loads(path.read_text()) for path in self.folder.glob("*/manifest.json")]
        names = {Path(manifest["workspaces"]).name for manifest in manifests}
        found = [str(path) for path in self.folder.glob("perfq-sessions-*/*")]
        tops = {one.folder for one in places.own().values()}
        found += [str(folder) for top in tops for name in names for folder in top.glob(f"perfq-{name}*")]
        return found + [f"process {pid}" for pid in self.processes()]

    def processes(self) -> list[int]:
        """Those whose environment says that they are of a session of this test: its workspaces are their homes."""
        home = f"HOME={self.folder}/perfq-sessions-".encode()
        found = []
        for path in Path("/proc").iterdir():
            if path.name.isdigit():
                try:
                    if any(entry.startswith(home) for entry in (path / "environ").read_bytes().split(b"\0")):
                        found.append(int(path.name))
                except OSError:
                    continue
        return found

    def profile(self, name: str, sessions: int, steps: list[dict[str, Any]], **changes: Any) -> str:
        """A profile of so many sessions that all arrive at once."""
        session = {"schema": "perfq.trajectory/v1", "id": name, "environment": {"shell": ["sh", "-c"]}, "steps": steps}
        (self.folder / f"{name}-session.json").write_text(json.dumps(session))
        document = {
            "schema": "perfq.trajectory-profile/v1",
            "name": name,
            "trajectories": [{"path": f"{name}-session.json", "repeat": sessions}],
            "arrivals": {"mode": "waves", "waves": 1, "per_wave": sessions, "interval_ms": 0},
            "command": {"timeout_ms": 600_000, "term_grace_ms": 100, "clean_timeout_ms": 5000},
            **changes,
        }
        path = self.folder / f"{name}.json"
        path.write_text(json.dumps(document))
        return str(path)

    def _environment(self) -> dict[str, str]:
        return {**os.environ, "PYTHONPATH": str(TOP / "python"), "TMPDIR": str(self.folder)}


def until(what: Callable[[], object], within_s: float = 60) -> None:
    """Waits for a state that has to come."""
    deadline = time.monotonic() + within_s
    while not what():
        assert time.monotonic() < deadline, "it did not come to that"
        time.sleep(0.02)


def lines(run: Path, kind: str) -> list[dict[str, Any]]:
    """Those of a run that are on disk by now."""
    path = run / "samples.ndjson"
    if not path.exists():
        return []
    whole = path.read_text().rpartition("\n")[0].splitlines()
    return [line for line in map(json.loads, whole) if line["k"] == kind]
