"""The project's own rules hold, and what guards them can fail."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.packaging


def lint_imports(folder: Path) -> subprocess.CompletedProcess[str]:
    """Runs import-linter on the copy of the package in `folder`."""
    command = [str(Path(sys.executable).with_name("lint-imports")), "--no-logo", "--no-cache"]
    environment = {"PYTHONPATH": str(folder / "python"), "PATH": "/usr/bin:/bin", "LANG": "C.UTF-8"}
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)


@pytest.fixture
def copied(tmp_path: Path, repository: Path) -> Path:
    """A copy of the package with its contracts, to be broken."""
    shutil.copytree(repository / "python", tmp_path / "python", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(repository / "pyproject.toml", tmp_path)
    return tmp_path


def test_the_layers_hold(copied: Path) -> None:
    run = lint_imports(copied)
    assert run.returncode == 0, run.stdout


@pytest.mark.parametrize(
    ("file", "statement", "contract"),
    [
        ("errors.py", "import perfq.cli", "layers"),
        ("measure/__init__.py", "import perfq.report", "layers"),
        ("report/__init__.py", "import perfq.judge", "layers"),
        ("drive/__init__.py", "import click", "only cli imports click"),
        ("report/__init__.py", "import kubernetes", "only kube imports kubernetes"),
        ("errors.py", "import perfq._core", "the native module is not used below profile"),
    ],
)
def test_a_broken_layer_is_found(copied: Path, file: str, statement: str, contract: str) -> None:
    path = copied / "python" / "perfq" / file
    path.write_text(path.read_text() + f"\n{statement}\n")
    run = lint_imports(copied)
    assert run.returncode == 1
    assert f"{contract} BROKEN" in run.stdout


def test_the_readme_is_short(repository: Path) -> None:
    assert len((repository / "README.md").read_text().splitlines()) <= 150


def test_no_source_file_has_outgrown_its_noun(repository: Path) -> None:
    """Files stay under about 300 lines; 400 is where a second concept lives in them."""
    sources = [*(repository / "python").rglob("*.py"), *(repository / "rust").rglob("src/**/*.rs")]
    long = {
        str(path.relative_to(repository)): lines
        for path in sources
        if (lines := len(path.read_text().splitlines())) > 400
    }
    assert sources
    assert not long


def test_every_script_says_what_it_does(repository: Path) -> None:
    for script in (repository / "scripts").iterdir():
        lines = script.read_text().splitlines()
        assert lines[0].startswith("#!"), script
        assert lines[1].startswith("# "), script
