"""A sampled CPU profile of the client during the churn, on request.

py-spy samples a Python client from outside and writes speedscope. Sampling costs the client time, so a
profiled run is marked and never compared with others.
"""

from __future__ import annotations

import shutil
import signal
import subprocess
import sys
from pathlib import Path

from perfq.errors import UsageError

FILE = "cpu-profile.speedscope.json"
#: Samples a second.
RATE = 100
END_TIMEOUT_S = 30.0


def find_profiler() -> str:
    """py-spy's path: beside the interpreter that runs perfq, else on PATH. UsageError where it is not installed."""
    beside = Path(sys.executable).with_name("py-spy")
    found = str(beside) if beside.exists() else shutil.which("py-spy")
    if found is None:
        raise UsageError("--cpu-profile: py-spy was not found; install it (pip install py-spy) and try again")
    return found


class CpuProfile:
    """One profiler on one process; it must be stopped."""

    def __init__(self, profiler: str, pid: int, target: Path) -> None:
        command = [profiler, "record", "--pid", str(pid), "--format", "speedscope", "--rate", str(RATE)]
        command += ["--output", str(target), "--subprocesses", "--nonblocking"]
        self._target = target
        self._process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
        )

    def stop(self) -> str | None:
        """Ends it and waits for its file; None where that is there, else why not."""
        if self._process.poll() is None:
            self._process.send_signal(signal.SIGINT)
        try:
            _, said = self._process.communicate(timeout=END_TIMEOUT_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            _, said = self._process.communicate()
        if self._target.exists() and self._target.stat().st_size > 0:
            return None
        lines = [line for line in said.splitlines() if line.strip()]
        return lines[-1].strip() if lines else f"py-spy ended with {self._process.returncode} and no word"
