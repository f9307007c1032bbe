"""The built artifacts, once a session, and the Pythons of this machine."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.packaging.elsewhere import built_elsewhere

#: What a program under test may see of this process's environment.
BARE = {"PATH": "/usr/local/bin:/usr/bin:/bin", "LANG": "C.UTF-8"}


@pytest.fixture(scope="session")
def built(repository: Path) -> Path:
    """dist/perfq.pyz, built from this checkout now; scripts/test has built it already and says so in PERFQ_PYZ."""
    if named := os.environ.get("PERFQ_PYZ"):
        return Path(named)
    done = subprocess.run(
        [str(repository / "scripts" / "build-pyz")], cwd=repository, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return repository / "dist" / "perfq.pyz"


@pytest.fixture(scope="session")
def elsewhere(repository: Path) -> Path:
    """The same file, built in another folder now; scripts/test has built it already and says so in PERFQ_ELSEWHERE."""
    if named := os.environ.get("PERFQ_ELSEWHERE"):
        return Path(named)
    return built_elsewhere(repository)


@pytest.fixture(scope="session")
def wheel(built: Path, repository: Path) -> Path:
    """The wheel that the file was made from."""
    (path,) = (repository / ".build" / "pyz" / "wheel").glob("perfq-*.whl")
    return path


def python_of(path: Path) -> tuple[str, str] | None:
    """("CPython", "3.12") of an interpreter; None where it does not start."""
    code = "import sys, platform; print(platform.python_implementation(), '%d.%d' % sys.version_info[:2])"
    try:
        done = subprocess.run([str(path), "-c", code], capture_output=True, text=True, check=False, timeout=30)
    except OSError:
        return None
    words = done.stdout.split()
    return (words[0], words[1]) if done.returncode == 0 and len(words) == 2 else None


def pythons_here() -> dict[str, Path]:
    """Version → a CPython of this machine: this one first, then those on PATH and under pyenv."""
    folders = [Path(folder) for folder in os.environ.get("PATH", "").split(":") if folder]
    pyenv = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv") / "versions"
    folders += sorted(path / "bin" for path in pyenv.glob("*"))
    paths = [Path(os.path.realpath(sys.executable))]
    paths += [path for folder in folders for path in sorted(folder.glob("python[23].*")) if path.suffix[1:].isdigit()]
    found: dict[str, Path] = {}
    for path in paths:
        told = python_of(path)
        if told and told[0] == "CPython":
            found.setdefault(told[1], path)
    return found


@pytest.fixture(scope="session")
def pythons() -> dict[str, Path]:
    """Version → a CPython of this machine."""
    return pythons_here()


@pytest.fixture(scope="session")
def python() -> Path:
    """The Python that runs the tests, outside its environment."""
    return Path(os.path.realpath(sys.executable))


@pytest.fixture(scope="session")
def installed(wheel: Path, repository: Path, tmp_path_factory: pytest.TempPathFactory) -> Callable[[], Path]:
    """A fresh environment with the wheel and the locked development packages, made when first asked for."""
    made: list[Path] = []

    def make() -> Path:
        if not made:
            folder = tmp_path_factory.mktemp("installed") / "venv"
            uv = str(Path(sys.executable).with_name("uv"))
            locked = ["--require-hashes", "--only-binary", ":all:", "-r", "requirements/dev.txt"]
            for command in (
                [uv, "venv", "--quiet", "--python", os.path.realpath(sys.executable), str(folder)],
                [uv, "pip", "install", "--quiet", "--python", str(folder), *locked],
                [uv, "pip", "install", "--quiet", "--python", str(folder), "--no-deps", str(wheel)],
            ):
                done = subprocess.run(command, cwd=repository, capture_output=True, text=True, check=False)
                assert done.returncode == 0, done.stderr
            made.append(folder)
        return made[0]

    return make
