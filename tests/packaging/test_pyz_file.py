"""What perfq.pyz contains, that it is the same bytes wherever it is built, and that it does its work alone."""

from __future__ import annotations

import hashlib
import json
import shutil
import subprocess
import zipfile
from pathlib import Path

import pytest
from tests.packaging.elsewhere import git

pytestmark = pytest.mark.packaging

VERSIONS = ("3.11", "3.12", "3.13", "3.14")
NATIVE = ("pydantic_core/_pydantic_core", "yaml/_yaml", "msgspec/_core")
#: Every package that perfq imports, by the module that would miss what was left out.
IMPORTED = (
    "click",
    "kubernetes.client",
    "kubernetes.config",
    "kubernetes.dynamic",
    "kubernetes.watch",
    "msgspec.json",
    "pydantic",
    "textual.app",
    "textual.widgets",
    "urllib3",
    "yaml._yaml",
)
#: What Rich and Textual may be asked to highlight.
HIGHLIGHTED = ("bash", "diff", "go", "ini", "json", "python", "pytb", "text", "yaml")


@pytest.fixture
def alone(built: Path, tmp_path: Path) -> Path:
    """The file alone in an empty folder."""
    folder = tmp_path / "alone"
    folder.mkdir()
    return Path(shutil.copy(built, folder))


def run(python: Path, pyz: Path, *args: str, home: Path) -> subprocess.CompletedProcess[str]:
    """`python perfq.pyz ARGS` in the file's folder, with little more than HOME in the environment."""
    environment = {"HOME": str(home), "PATH": "/usr/bin:/bin", "LANG": "C.UTF-8"}
    command = [str(python), str(pyz), *args]
    return subprocess.run(
        command, cwd=pyz.parent, env=environment, capture_output=True, text=True, check=False, timeout=300
    )


def test_the_file_tells_its_commit_and_compiler(alone: Path, python: Path, repository: Path, tmp_path: Path) -> None:
    told = json.loads(run(python, alone, "--version", "--json", home=tmp_path).stdout)
    assert told["commit"].removesuffix("-dirty") == git(repository, "rev-parse", "HEAD")
    assert told["rust"].startswith("rustc 1.")


def test_the_file_has_at_most_20_mb(built: Path) -> None:
    assert built.stat().st_size <= 20_000_000


def test_the_checksum_beside_it_is_its_own(built: Path) -> None:
    digest = hashlib.sha256(built.read_bytes()).hexdigest()
    assert (built.parent / "SHA256SUMS").read_text() == f"{digest}  perfq.pyz\n"


@pytest.mark.parametrize("version", VERSIONS)
def test_the_file_holds_native_modules_for_each_python_injected_or_not(built: Path, version: str) -> None:
    """By name, so that a Python which this machine lacks is covered as far as a look can."""
    with zipfile.ZipFile(built) as archive:
        names = set(archive.namelist())
    suffix = f".cpython-{version.replace('.', '')}-x86_64-linux-gnu.so"
    assert {f"site-packages/{module}{suffix}" for module in NATIVE} <= names
    assert "site-packages/perfq/_core.abi3.so" in names


def test_native_code_is_for_these_pythons_alone(built: Path) -> None:
    with zipfile.ZipFile(built) as archive:
        native = {name.removeprefix("site-packages/") for name in archive.namelist() if name.endswith(".so")}
    suffixes = [f".cpython-{version.replace('.', '')}-x86_64-linux-gnu.so" for version in VERSIONS]
    assert native == {f"{module}{suffix}" for module in NATIVE for suffix in suffixes} | {"perfq/_core.abi3.so"}


def test_what_an_installation_leaves_behind_is_not_in_it(built: Path) -> None:
    with zipfile.ZipFile(built) as archive:
        names = archive.namelist()
    assert not [name for name in names if name.startswith("site-packages/bin/")]
    assert not [name for name in names if name.endswith((".pyc", ".pth"))]
    assert not [name for name in names if "kubernetes/aio/" in name or "/aiohttp" in name]
    notes = {"RECORD", "INSTALLER", "REQUESTED", "direct_url.json"}
    assert not [name for name in names if ".dist-info/" in name and Path(name).name in notes]


def test_no_path_of_this_machine_is_in_it(built: Path, repository: Path) -> None:
    """The checkout's nowhere, the home folder's in nothing of ours (other projects' builders had homes too)."""
    home = str(Path.home()).encode() + b"/."
    with zipfile.ZipFile(built) as archive:
        contents = {name: archive.read(name) for name in archive.namelist()}
    assert [name for name, content in contents.items() if str(repository).encode() in content] == []
    ours = {name: content for name, content in contents.items() if not name.startswith("site-packages/pydantic_core/")}
    assert [name for name, content in ours.items() if home in content] == []


def test_the_built_in_documents_are_in_it(built: Path, repository: Path) -> None:
    package = repository / "python"
    files = (path for path in (package / "perfq" / "profiles").rglob("*") if path.is_file())
    here = {f"site-packages/{path.relative_to(package)}" for path in files if "__pycache__" not in path.parts}
    with zipfile.ZipFile(built) as archive:
        assert {name for name in archive.namelist() if name.startswith("site-packages/perfq/profiles/")} == here
    assert len(here) > 12


@pytest.mark.parametrize("version", VERSIONS)
def test_each_python_of_this_machine_runs_it_and_imports_what_perfq_uses(
    alone: Path, pythons: dict[str, Path], tmp_path: Path, version: str
) -> None:
    if version not in pythons:
        pytest.skip(f"CPython {version} is not installed; what the file holds for it is looked at by name")
    python = pythons[version]
    done = run(python, alone, "--version", home=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    (packages,) = (tmp_path / ".shiv").glob("*/site-packages")
    code = (
        f"import sys; sys.path.insert(0, {str(packages)!r}); import perfq._core, {', '.join(IMPORTED)}\n"
        "pod = kubernetes.client.V1Pod.from_dict({'metadata': {'labels': {'app': 'a'}}, 'spec': {'containers': []}})\n"
        "assert pod.to_dict()['metadata']['labels'] == {'app': 'a'}\n"
        "from pygments.lexers import get_lexer_by_name, guess_lexer_for_filename\n"
        f"[get_lexer_by_name(name) for name in {HIGHLIGHTED!r}]\n"
        "guess_lexer_for_filename('a.py', 'import os')\n"
    )
    done = subprocess.run([str(python), "-I", "-S", "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_every_module_of_perfq_can_be_imported_from_it(alone: Path, python: Path, tmp_path: Path) -> None:
    """So that what perfq imports and the file lacks (kubernetes.aio was left out) is found here."""
    assert run(python, alone, "--version", home=tmp_path).returncode == 0
    (packages,) = (tmp_path / ".shiv").glob("*/site-packages")
    code = (
        f"import sys; sys.path.insert(0, {str(packages)!r})\n"
        "import importlib, pkgutil, perfq\n"
        "names = [m.name for m in pkgutil.walk_packages(perfq.__path__, 'perfq.') if not m.name.endswith('__main__')]\n"
        "[importlib.import_module(name) for name in names]\n"
        "print(len(names))\n"
    )
    done = subprocess.run([str(python), "-I", "-S", "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert int(done.stdout) >= 10


def test_built_in_another_folder_it_is_the_same_bytes(built: Path, elsewhere: Path) -> None:
    """In a folder whose name is longer than the first one's and which shares nothing with it."""
    if elsewhere.read_bytes() != built.read_bytes():
        with zipfile.ZipFile(built) as one, zipfile.ZipFile(elsewhere) as two:
            names = sorted(set(one.namelist()) | set(two.namelist()))
            differ = [name for name in names if name not in two.namelist() or one.read(name) != two.read(name)]
        pytest.fail(f"the two builds differ in {differ or 'their archive alone'}")


def test_a_plan_from_an_empty_home_has_the_known_hashes(alone: Path, python: Path, tmp_path: Path) -> None:
    done = run(python, alone, "plan", "smoke-1k", "--emit", "final", home=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    told = run(python, alone, "plan", "smoke-1k", "--json", home=tmp_path)
    assert f'"{hashlib.sha256(done.stdout.encode()).hexdigest()}"' in told.stdout


@pytest.mark.alone
def test_a_replay_from_an_empty_home_passes(alone: Path, python: Path, tmp_path: Path) -> None:
    done = run(python, alone, "replay", "smoke-1k", "--preset", "correctness", "--out", "run", home=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert (alone.parent / "run" / "report.md").is_file()
