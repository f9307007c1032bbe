"""What it takes to fold the record of a load does not grow with its length."""

from __future__ import annotations

import random
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any

from tests.unit.synthetic_load import Line, histogram, ideal_load

MIB = 1 << 20
#: Folds, judges and renders a run directory as `perfq report` does; the most that was resident, in bytes.
PROGRAM = """
import re, sys
from pathlib import Path
from perfq.drive.rebuild import result_of
result_of(Path(sys.argv[1]))
print(int(re.search(r"VmHWM:\\s+(\\d+) kB", Path("/proc/self/status").read_text())[1]) * 1024)
"""


@cache
def wide(variant: int) -> Any:
    """Latencies of all lengths, so that hardly two are in one bucket; no two variants have the same."""
    generator = random.Random(variant)
    return histogram([int(generator.lognormvariate(14, 1.2)) for _ in range(3000)])


def told_apart(line: Line) -> Line:
    """Each second of each series with latencies of its own, of which there are a hundred kinds."""
    if line["k"] != "load_slice":
        return line
    series = [{**one, "response": wide(line["second"] % 100), "service": wide(50)} for one in line["series"]]
    return {**line, "series": series}


def most_resident(folder: Path, seconds: int) -> int:
    run = ideal_load(seconds).mapped(told_apart).write(folder / str(seconds))
    done = subprocess.run([sys.executable, "-c", PROGRAM, str(run)], capture_output=True, text=True, check=True)
    return int(done.stdout)


def test_ten_times_as_long_a_load_is_folded_in_the_same_memory(tmp_path: Path) -> None:
    short, long = most_resident(tmp_path, 12), most_resident(tmp_path, 120)
    assert long - short <= 4 * MIB, f"{short / MIB:.1f} and {long / MIB:.1f} MiB"
