"""`scripts/bench`: measures what is asked for and prints one table."""

from __future__ import annotations

import argparse
import importlib
import json
import os
import platform
import subprocess
import sys
import traceback
from datetime import UTC, datetime
from pathlib import Path

from benches.table import Row, render

GROUPS = ("plan", "server", "viewer", "terminal", "load", "file")


def machine() -> str:
    """What a figure was measured on: cores, processor, load, commit, time."""
    cpu = next(
        (
            line.split(":", 1)[1].strip()
            for line in Path("/proc/cpuinfo").read_text().splitlines()
            if "model name" in line
        ),
        platform.machine(),
    )
    asked = ["git", "describe", "--always", "--dirty", "--abbrev=12", "--exclude=*"]
    commit = subprocess.run(
        asked, capture_output=True, text=True, check=False, cwd=Path(__file__).parent
    ).stdout.strip()
    load = ", ".join(f"{value:.1f}" for value in os.getloadavg())
    now = datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC")
    return f"{os.cpu_count()} cores ({cpu}), load {load}, Python {platform.python_version()}, commit {commit}, {now}"


def main() -> int:
    """0 where every target that could be measured is met, 3 where one is not, 1 where a bench failed."""
    parser = argparse.ArgumentParser(prog="scripts/bench", description=__doc__)
    parser.add_argument("groups", nargs="*", metavar="GROUP", help=f"of {', '.join(GROUPS)}; all by default")
    parser.add_argument("--json", metavar="FILE", type=Path, help="write the rows there as well")
    args = parser.parse_args()
    if unknown := set(args.groups) - set(GROUPS):
        parser.error(f"got {', '.join(sorted(unknown))}, expected {', '.join(GROUPS)}")
    told = machine()
    rows: list[Row] = []
    failed = False
    for group in args.groups or GROUPS:
        print(f"measuring: {group}", file=sys.stderr)
        try:
            rows += importlib.import_module(f"benches.{group}").rows()
        except Exception:
            failed = True
            traceback.print_exc()
            rows.append(Row(f"{group}: did not run", "", None, ""))
    print(f"{told}\n\n{render(rows)}")
    if args.json:
        args.json.write_text(json.dumps({"machine": told, "rows": [row.as_json() for row in rows]}, indent=1) + "\n")
    if failed:
        return 1
    return 3 if any(row.met is False for row in rows) else 0


if __name__ == "__main__":
    sys.exit(main())
