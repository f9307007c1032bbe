"""dist/perfq.pyz: its size, its first and its warm start over bare Python."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from benches.table import Row, Target

PYZ = Path(__file__).parent.parent / "dist" / "perfq.pyz"


def seconds(command: list[str], home: str) -> float:
    """Wall seconds of one run."""
    before = time.perf_counter()
    subprocess.run(command, env={"HOME": home, "PATH": os.environ["PATH"]}, check=True, capture_output=True)
    return time.perf_counter() - before


def rows() -> Iterator[Row]:
    """The fastest of twenty for what is warm, of three for what is first; the peer is Python that does nothing."""
    subprocess.run([str(PYZ.parent.parent / "scripts" / "build-pyz")], check=True, capture_output=True)
    python = os.path.realpath(sys.executable)
    version = [python, str(PYZ), "--version"]
    yield Row("perfq.pyz", "MB", PYZ.stat().st_size / 1e6, "–", target=Target("value", "<=", 20))
    with tempfile.TemporaryDirectory() as home:
        bare = min(seconds([python, "-c", "pass"], home) for _ in range(20))
        first = seconds(version, home)
        warm = min(seconds(version, home) for _ in range(20))
    for _ in range(2):
        with tempfile.TemporaryDirectory() as home:
            first = min(first, seconds(version, home))
    yield Row(
        "perfq.pyz --version, warm, over bare Python", "ms", (warm - bare) * 1e3, "–", target=Target("value", "<=", 100)
    )
    yield Row("perfq.pyz --version, first", "ms", first * 1e3, "–", target=Target("value", "<=", 500))
    yield Row("bare Python", "ms", bare * 1e3, "–")
