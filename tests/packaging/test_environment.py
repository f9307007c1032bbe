"""scripts/venv on machines that lack something. The lock is cut down to one package, so that this is quick."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

pytestmark = pytest.mark.packaging


@pytest.fixture
def checkout(repository: Path, tmp_path: Path) -> Path:
    """A folder with the script and a lock that asks for click alone."""
    folder = tmp_path / "checkout"
    for name in ("scripts", "requirements", "python"):
        (folder / name).mkdir(parents=True)
    shutil.copy(repository / "scripts" / "venv", folder / "scripts")
    entries = (repository / "requirements" / "pyz.txt").read_text().split("\n")
    first = next(number for number, line in enumerate(entries) if line.startswith("click=="))
    last = next(number for number in range(first, len(entries)) if not entries[number].endswith("\\"))
    (folder / "requirements" / "dev.txt").write_text("\n".join(entries[first : last + 1]) + "\n")
    return folder


def make(checkout: Path, *args: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """scripts/venv there, with this process's environment and these changes."""
    command = [str(checkout / "scripts" / "venv"), *args]
    return subprocess.run(
        command, env={**os.environ, **environment}, capture_output=True, text=True, check=False, timeout=300
    )


def works(checkout: Path) -> None:
    code = "import click, sys; print(sys.prefix)"
    told = subprocess.run(
        [str(checkout / ".venv" / "bin" / "python"), "-c", code], capture_output=True, text=True, check=True
    )
    assert told.stdout.strip() == str(checkout / ".venv")


def wrapper(folder: Path, python: Path, condition: str) -> Path:
    """A python that fails where the condition, in shell, holds for its arguments."""
    path = folder / "python-wrapper"
    path.write_text(f'#!/bin/sh\nif {condition}; then echo broken >&2; exit 1; fi\nexec "{python}" "$@"\n')
    path.chmod(0o755)
    return path


def test_it_makes_an_environment_and_then_does_nothing(checkout: Path, python: Path) -> None:
    done = make(checkout, "--tools-only", PERFQ_PYTHON=str(python))
    assert (done.returncode, done.stderr) == (0, "")
    works(checkout)
    before = (checkout / ".venv" / ".wanted").stat().st_mtime_ns
    assert make(checkout, "--tools-only", PERFQ_PYTHON="/nonexistent").returncode == 0
    assert (checkout / ".venv" / ".wanted").stat().st_mtime_ns == before


def test_a_python_without_ensurepip_is_enough_where_it_has_pip(checkout: Path, python: Path, tmp_path: Path) -> None:
    bare = wrapper(tmp_path, python, '[ "$*" = "-m venv .venv" ]')
    done = make(checkout, "--tools-only", PERFQ_PYTHON=str(bare))
    assert done.returncode == 0, done.stderr
    assert not (checkout / ".venv" / "bin" / "pip").exists()
    works(checkout)


def test_an_environment_whose_python_is_gone_is_made_anew(checkout: Path, python: Path) -> None:
    assert make(checkout, "--tools-only", PERFQ_PYTHON=str(python)).returncode == 0
    for link in (checkout / ".venv" / "bin").glob("python*"):
        link.unlink()
    done = make(checkout, "--tools-only", PERFQ_PYTHON=str(python))
    assert done.returncode == 0, done.stderr
    works(checkout)


def test_a_changed_lock_is_installed(checkout: Path, python: Path) -> None:
    assert make(checkout, "--tools-only", PERFQ_PYTHON=str(python)).returncode == 0
    lock = checkout / "requirements" / "dev.txt"
    lock.write_text(lock.read_text() + "# changed\n")
    before = (checkout / ".venv" / ".wanted").read_text()
    assert make(checkout, "--tools-only", PERFQ_PYTHON=str(python)).returncode == 0
    assert (checkout / ".venv" / ".wanted").read_text() != before


def test_a_package_that_is_not_the_locked_one_is_refused(checkout: Path, python: Path) -> None:
    lock = checkout / "requirements" / "dev.txt"
    lock.write_text(re.sub(r"sha256:(.)", lambda hit: f"sha256:{'1' if hit[1] == '0' else '0'}", lock.read_text()))
    done = make(checkout, "--tools-only", PERFQ_PYTHON=str(python))
    assert done.returncode != 0
    assert not (checkout / ".venv" / ".wanted").exists()


@pytest.mark.parametrize("found", ["/nonexistent/python3", "/bin/false"])
def test_without_a_fitting_python_it_says_what_it_looked_for(checkout: Path, found: str) -> None:
    done = make(checkout, "--tools-only", PERFQ_PYTHON=found)
    assert done.returncode == 78
    assert found in done.stderr
    assert "3.11" in done.stderr


def test_without_rust_it_says_so(checkout: Path, python: Path, tmp_path: Path) -> None:
    programs = tmp_path / "programs"
    programs.mkdir()
    for name in ("bash", "dirname", "env"):
        (programs / name).symlink_to(str(shutil.which(name)))
    done = make(checkout, PERFQ_PYTHON=str(python), PATH=str(programs))
    assert done.returncode == 78
    assert "cargo was not found" in done.stderr
