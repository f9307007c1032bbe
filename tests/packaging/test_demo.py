"""scripts/demo hands on what perfq says: its exit code and the report's path. Stand-ins take perfq's place here.

That a broken digest fails the run that the demo makes is shown with the real thing in tests/contract.
"""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

pytestmark = pytest.mark.packaging


@pytest.mark.parametrize(("code", "report"), [(0, True), (3, True), (4, True), (1, False)])
def test_the_demo_ends_as_its_run_does(repository: Path, tmp_path: Path, code: int, report: bool) -> None:
    (tmp_path / "scripts").mkdir()
    (tmp_path / ".venv" / "bin").mkdir(parents=True)
    shutil.copy(repository / "scripts" / "demo", tmp_path / "scripts")
    write = 'for last; do :; done; mkdir -p "$last"; echo "# report" >"$last/report.md"' if report else ":"
    for path, body in {"scripts/venv": ":", ".venv/bin/perfq": f'echo "$@"; {write}; exit {code}'}.items():
        (tmp_path / path).write_text(f"#!/bin/sh\n{body}\n")
        (tmp_path / path).chmod(0o755)
    done = subprocess.run([str(tmp_path / "scripts" / "demo")], capture_output=True, text=True, check=False)
    assert done.returncode == code
    assert done.stdout.startswith("replay smoke-1k --preset correctness --out runs/demo-")
    told = [line for line in done.stdout.splitlines() if line.startswith("report: ")]
    assert len(told) == (1 if report else 0)
    if report:
        assert (tmp_path / told[0].removeprefix("report: ")).is_file()
