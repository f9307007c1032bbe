"""The terminal engine: what a screen update costs to stamp and to parse."""

from __future__ import annotations

import resource
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from benches.table import Row, Target

SECONDS, RATE, COLUMNS, LINES = 5, 1_000, 160, 50

#: Rewrites three rows of the table at a time, as a list view under churn does, and the whole screen once a second.
PROGRAM = f"""
import os, time
start = time.monotonic()
for n in range({SECONDS * RATE}):
    rows = range(1, {LINES + 1}) if n % {RATE} == 0 else [(n + k * 17) % {LINES} + 1 for k in range(3)]
    line = f"bench-0000  pod-{{n:06d}}\\x1b[0m" + "x" * 130
    chunk = "".join(f"\\x1b[{{row}};1H\\x1b[3{{row % 8}}m{{line}}" for row in rows)
    os.write(1, chunk.encode())
    time.sleep(max(0, start + n / {RATE} - time.monotonic()))
"""


def rows() -> Iterator[Row]:
    """CPU of this process while a program writes 1,000 chunks a second, over the chunks that were read."""
    import perfq.drive
    from perfq._core import Terminal

    supervisor = Path(perfq.drive.__file__).parent / "supervisor.py"
    options = {
        "argv": [sys.executable, "-I", "-S", "-c", PROGRAM],
        "env": {"TERM": "xterm-256color", "LANG": "C.UTF-8"},
        "cwd": "/",
        "cols": COLUMNS,
        "rows": LINES,
        "supervisor": [sys.executable, "-I", "-S", str(supervisor)],
    }
    before = resource.getrusage(resource.RUSAGE_SELF)
    with Terminal.start(options) as terminal:
        deadline = time.monotonic() + 60
        while (seen := terminal.progress())["exited"] is None:
            assert time.monotonic() < deadline, "the program did not end"
            time.sleep(0.1)
    after = resource.getrusage(resource.RUSAGE_SELF)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    note = f"{seen['chunks']} chunks, {seen['bytes'] / 1e6:.1f} MB in about {SECONDS} s; CPU of the reader"
    yield Row(
        "a screen update stamped and parsed",
        "µs",
        cpu / seen["chunks"] * 1e6,
        "–",
        target=Target("value", "<=", 200),
        note=note,
    )
