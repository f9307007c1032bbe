"""The layers of the package: kept, and a broken one is noticed."""

from __future__ import annotations

import ast
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest


def lint(root: Path) -> subprocess.CompletedProcess[str]:
    """import-linter over the package under `root`."""
    program = "from importlinter.cli import lint_imports_command; lint_imports_command()"
    return subprocess.run(
        [sys.executable, "-c", program, "--no-logo", "--no-cache"],
        cwd=root,
        env={**os.environ, "PYTHONPATH": str(root / "python")},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture
def copied(tmp_path: Path, repository: Path) -> Path:
    """The package's Python files and the contracts, elsewhere."""
    only_python = shutil.ignore_patterns("*.so", "__pycache__", "*.json", "*.yaml")
    shutil.copytree(repository / "python" / "perfq", tmp_path / "python" / "perfq", ignore=only_python)
    shutil.copy(repository / "pyproject.toml", tmp_path)
    return tmp_path


def test_the_layers_are_kept(copied: Path) -> None:
    done = lint(copied)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "0 broken" in done.stdout


@pytest.mark.parametrize(
    ("module", "line", "contract"),
    [
        ("measure/host.py", "import perfq.cli.options", "layers"),
        ("profile/document.py", "from perfq.measure import host", "layers"),
        ("report/__init__.py", "import perfq.judge", "layers"),
        ("units.py", "import perfq.errors", "layers"),
        ("probe.py", "import perfq.units", "layers"),
        ("drive/stop.py", "def check_again() -> None:\n    import perfq.replay.run", "layers"),
        ("replay/run.py", "import click", "only cli imports click"),
        ("drive/stop.py", "from kubernetes import client", "only kube imports kubernetes"),
    ],
)
def test_a_broken_layer_is_noticed(copied: Path, module: str, line: str, contract: str) -> None:
    with (copied / "python" / "perfq" / module).open("a") as file:
        file.write(f"\n{line}\n")
    done = lint(copied)
    assert done.returncode == 1
    assert f"{contract} BROKEN" in done.stdout


def imported_by(path: Path) -> set[str]:
    """Every module that a file imports, at its top or inside a function."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    return found


# import-linter does not see compiled modules, so this rule is read off the files.
@pytest.mark.parametrize("module", ["units.py", "errors.py", "probe.py"])
def test_the_lowest_layer_does_without_the_native_module(repository: Path, module: str) -> None:
    assert "perfq._core" not in imported_by(repository / "python" / "perfq" / module)


def test_an_import_of_the_native_module_would_be_seen(tmp_path: Path) -> None:
    for line in ("import perfq._core", "from perfq import _core", "def f():\n    from perfq._core import Plan"):
        (tmp_path / "module.py").write_text(line)
        assert "perfq._core" in imported_by(tmp_path / "module.py")
