"""The project's own rules hold, and what guards them can fail."""

from __future__ import annotations

import ast
import re
import shutil
import subprocess
import sys
import tomllib
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
    ],
)
def test_a_broken_layer_is_found(copied: Path, file: str, statement: str, contract: str) -> None:
    path = copied / "python" / "perfq" / file
    path.write_text(path.read_text() + f"\n{statement}\n")
    run = lint_imports(copied)
    assert run.returncode == 1
    assert f"{contract} BROKEN" in run.stdout


@pytest.mark.parametrize("file", ["errors.py", "units.py", "probe.py"])
def test_the_native_module_is_not_used_below_profile(repository: Path, file: str) -> None:
    """import-linter does not see native modules."""
    text = (repository / "python" / "perfq" / file).read_text()
    imported = {name for node in ast.walk(ast.parse(text)) for name in names_imported(node)}
    assert "perfq._core" not in imported


def names_imported(node: ast.AST) -> list[str]:
    """The dotted names that an import statement asks for; [] for any other node."""
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    if isinstance(node, ast.ImportFrom):
        return [f"{node.module}.{alias.name}" for alias in node.names] + [str(node.module)]
    return []


def test_the_readme_is_short(repository: Path) -> None:
    assert len((repository / "README.md").read_text().splitlines()) <= 150


def test_no_source_file_has_outgrown_its_noun(repository: Path) -> None:
    """Files stay under about 300 lines, Rust's tests in them aside; 400 is where a second concept lives in them."""
    sources = [*(repository / "python").rglob("*.py"), *(repository / "rust").glob("*/src/**/*.rs")]
    texts = {path.relative_to(repository): path.read_text().split("#[cfg(test)]\nmod tests")[0] for path in sources}
    long = {str(path): lines for path, text in texts.items() if (lines := len(text.splitlines())) > 400}
    assert sources
    # A table of data: a row for each kind of object.
    assert set(long) <= {"rust/engine/src/api_server/semantics/kind_table.rs"}


def test_every_script_says_what_it_does(repository: Path) -> None:
    for script in (repository / "scripts").iterdir():
        lines = script.read_text().splitlines()
        assert lines[0].startswith("#!"), script
        assert lines[1].startswith("# "), script


def direct_dependencies(repository: Path) -> set[str]:
    """Names in pyproject.toml, the Cargo.toml files and the build's own requirements."""
    project = tomllib.loads((repository / "pyproject.toml").read_text())
    wanted = [*project["project"]["dependencies"], *project["dependency-groups"]["dev"]]
    wanted += [line for line in (repository / "requirements" / "build.in").read_text().splitlines() if line[:1] != "#"]
    names = {re.split(r"[<>=\[ ]", text)[0] for text in wanted}
    for manifest in (repository / "rust").glob("*/Cargo.toml"):
        crate = tomllib.loads(manifest.read_text())
        names |= {*crate.get("dependencies", {}), *crate.get("dev-dependencies", {})}
    return {name for name in names if not name.startswith("perfq")} - {"pip"}


def test_each_dependency_says_what_it_is_for(repository: Path) -> None:
    text = (repository / "docs" / "reference" / "dependencies.md").read_text()
    tables = re.split(r"\n\n+", text)
    # The tables of packages and crates; that of programs has no list of ours to be held against.
    rows = [line for table in tables if re.match(r"\| (package|crate) ", table) for line in table.splitlines()[2:]]
    named = {name for row in rows for name in re.findall(r"[\w-]+", row.split("|")[1])}
    assert direct_dependencies(repository) <= named
    assert named <= direct_dependencies(repository)
