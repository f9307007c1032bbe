"""scripts/venv on machines that lack something. The lock is cut down to a package or two, so that this is quick."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

pytestmark = pytest.mark.packaging


def entry(lock: str, package: str) -> str:
    """The package's lines in a lock."""
    (found,) = re.findall(rf"^{package}==(?:.*\\\n)*.*\n", lock, re.MULTILINE)
    return str(found)


def bare_checkout(repository: Path, folder: Path, *packages: str) -> Path:
    """The folder, with the script and a lock that asks for these packages alone."""
    for name in ("scripts", "requirements", "python"):
        (folder / name).mkdir(parents=True)
    shutil.copy(repository / "scripts" / "venv", folder / "scripts")
    lock = (repository / "requirements" / "dev.txt").read_text()
    (folder / "requirements" / "dev.txt").write_text("".join(entry(lock, name) for name in packages))
    return folder


@pytest.fixture
def checkout(repository: Path, tmp_path: Path) -> Path:
    """A folder with the script and a lock that asks for click alone, and so not for uv: pip installs it."""
    return bare_checkout(repository, tmp_path / "checkout", "click")


@pytest.fixture(scope="module")
def first(repository: Path, python: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder whose lock asks for click and uv, with its environment, made once: that takes seconds."""
    folder = bare_checkout(repository, tmp_path_factory.mktemp("first") / "checkout", "click", "uv")
    done = make(folder, "--tools-only", PERFQ_PYTHON=str(python))
    assert (done.returncode, done.stderr) == (0, "")
    return folder


@pytest.fixture
def made(first: Path, tmp_path: Path) -> Path:
    """A copy of it, whose environment a test may break: what makes it one stands in pyvenv.cfg beside it."""
    return Path(shutil.copytree(first, tmp_path / "made", symlinks=True))


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


def test_it_makes_an_environment_and_then_does_nothing(first: Path) -> None:
    works(first)
    before = (first / ".venv" / ".wanted").stat().st_mtime_ns
    assert make(first, "--tools-only", PERFQ_PYTHON="/nonexistent").returncode == 0
    assert (first / ".venv" / ".wanted").stat().st_mtime_ns == before


def test_a_python_without_ensurepip_is_enough_where_it_has_pip(checkout: Path, python: Path, tmp_path: Path) -> None:
    bare = wrapper(tmp_path, python, '[ "$*" = "-m venv .venv" ]')
    done = make(checkout, "--tools-only", PERFQ_PYTHON=str(bare))
    assert done.returncode == 0, done.stderr
    assert not (checkout / ".venv" / "bin" / "pip").exists()
    works(checkout)


def test_an_environment_whose_python_is_gone_is_made_anew(made: Path, python: Path) -> None:
    for link in (made / ".venv" / "bin").glob("python*"):
        link.unlink()
    done = make(made, "--tools-only", PERFQ_PYTHON=str(python))
    assert done.returncode == 0, done.stderr
    works(made)


def test_a_changed_lock_is_installed(made: Path) -> None:
    lock = made / "requirements" / "dev.txt"
    lock.write_text(lock.read_text() + "# changed\n")
    (site_packages,) = (made / ".venv" / "lib").glob("python3*/site-packages")
    for path in site_packages.glob("click*"):
        shutil.rmtree(path)
    before = (made / ".venv" / ".wanted").read_text()
    assert make(made, "--tools-only").returncode == 0
    assert (made / ".venv" / ".wanted").read_text() != before
    works(made)


def test_where_uv_cannot_reach_an_index_pip_installs_by_its_own_settings(made: Path) -> None:
    (made / ".venv" / ".wanted").unlink()
    (site_packages,) = (made / ".venv" / "lib").glob("python3*/site-packages")
    for path in site_packages.glob("click*"):
        shutil.rmtree(path)
    done = make(made, "--tools-only", UV_INDEX_URL="http://127.0.0.1:9/simple", UV_NO_CACHE="1", UV_HTTP_RETRIES="0")
    assert (done.returncode, done.stderr) == (0, "")
    works(made)


def test_a_package_that_is_not_the_locked_one_is_refused(made: Path) -> None:
    lock = made / "requirements" / "dev.txt"
    lock.write_text(re.sub(r"sha256:(.)", lambda hit: f"sha256:{'1' if hit[1] == '0' else '0'}", lock.read_text()))
    (site_packages,) = (made / ".venv" / "lib").glob("python3*/site-packages")
    for path in site_packages.glob("click*"):
        shutil.rmtree(path)
    done = make(made, "--tools-only")
    assert done.returncode != 0
    assert not (made / ".venv" / ".wanted").exists()


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
