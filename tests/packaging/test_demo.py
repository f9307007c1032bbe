"""scripts/demo hands on what perfq says: its words and its exit code. Stand-ins take perfq's place here.

That a broken digest fails the run that the demo makes is shown with the real thing in tests/contract.
"""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

pytestmark = pytest.mark.packaging


@pytest.mark.parametrize("code", [0, 1, 3, 4])
def test_the_demo_ends_as_its_run_does(repository: Path, tmp_path: Path, code: int) -> None:
    (tmp_path / "scripts").mkdir()
    (tmp_path / ".venv" / "bin").mkdir(parents=True)
    shutil.copy(repository / "scripts" / "demo", tmp_path / "scripts")
    for path, body in {"scripts/venv": 'echo "venv $@"', ".venv/bin/perfq": f'echo "perfq $@"; exit {code}'}.items():
        (tmp_path / path).write_text(f"#!/bin/sh\n{body}\n")
        (tmp_path / path).chmod(0o755)
    done = subprocess.run([str(tmp_path / "scripts" / "demo")], capture_output=True, text=True, check=False)
    assert done.returncode == code
    first, second = done.stdout.splitlines()
    assert first == "venv --release"
    assert second.startswith("perfq replay smoke-1k --preset correctness --out runs/demo-")
