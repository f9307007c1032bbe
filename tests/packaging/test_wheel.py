"""The wheel and the source distribution, each used as a stranger would."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tarfile
import time
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

pytestmark = pytest.mark.packaging

#: Under tests/unit: what asks the native module much, looks for package data, or starts the command.
OF_ITS_OWN = (
    "core",
    "load",
    "measure",
    "report",
    "cli/test_command_line.py",
    "cli/test_profile_commands.py",
    "profile/test_client_definitions.py",
    "profile/test_plan.py",
)


def test_the_wheel_is_one_for_all_pythons_and_old_systems(wheel: Path) -> None:
    assert "-cp311-abi3-" in wheel.name
    assert "manylinux2014_x86_64" in wheel.name


def test_the_wheel_asks_for_no_newer_glibc_than_it_says(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        module = archive.read("perfq/_core.abi3.so")
    versions = {tuple(map(int, found.split(b"."))) for found in re.findall(rb"GLIBC_(2\.\d+)", module)}
    assert versions
    assert max(versions) <= (2, 17)


def test_the_wheel_holds_the_package_whole_and_each_file_as_it_is_here(wheel: Path, repository: Path) -> None:
    package = repository / "python"
    kinds = (".py", ".pyi", ".typed", ".json", ".yaml", ".tcss", ".jsonl", ".md")
    sources = [path for path in (package / "perfq").rglob("*") if path.is_file() and path.suffix in kinds]
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
        here = {str(path.relative_to(package)): path.read_bytes() for path in sources}
        assert here.keys() <= names
        assert [name for name, content in here.items() if archive.read(name) != content] == []
    assert any(name.endswith("licenses/LICENSE") for name in names)


def test_every_module_of_the_installed_wheel_can_be_imported(installed: Callable[[], Path], tmp_path: Path) -> None:
    code = (
        "import importlib, pkgutil, perfq\n"
        "names = [m.name for m in pkgutil.walk_packages(perfq.__path__, 'perfq.') if not m.name.endswith('__main__')]\n"
        "[importlib.import_module(name) for name in names]\n"
        "print(len(names))\n"
    )
    python = str(installed() / "bin" / "python")
    done = subprocess.run([python, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert int(done.stdout) >= 10


def test_the_installed_wheel_passes_the_unit_tests_of_what_it_has_of_its_own(
    installed: Callable[[], Path], repository: Path, tmp_path: Path
) -> None:
    """In a fresh environment, with the package from the wheel and not from the checkout.

    The phase `unit` has run all of them on the checkout. Its Python files and data are in the wheel byte for byte
    (see above), so that what is left to try is the native module, which another profile of the compiler made (other
    optimizations, no overflow checks), how data is found where the package is installed, and the command line. The
    others would ask the same Python the same questions again.
    """
    python = installed() / "bin" / "python"
    where = subprocess.run(
        [str(python), "-c", "import perfq, perfq._core; print(perfq.__file__, perfq._core.__file__)"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    assert str(repository) not in where
    done = subprocess.run(
        [str(python), "-m", "pytest", "-q", "-p", "no:cacheprovider", "--numprocesses", "2", *OF_ITS_OWN],
        cwd=repository / "tests" / "unit",
        # The installation is compiled; the tests are not to leave anything in the checkout.
        env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-4000:]


@pytest.fixture(scope="session")
def sdist(repository: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The unpacked source distribution."""
    folder = tmp_path_factory.mktemp("sdist")
    maturin = Path(sys.executable).with_name("maturin")
    done = subprocess.run(
        [str(maturin), "sdist", "--out", str(folder)],
        cwd=repository,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    (archive,) = folder.glob("perfq-*.tar.gz")
    with tarfile.open(archive) as packed:
        packed.extractall(folder, filter="data")
    (unpacked,) = (path for path in folder.iterdir() if path.is_dir())
    return unpacked


def test_the_sdist_builds_a_wheel_that_works(sdist: Path, repository: Path, tmp_path: Path) -> None:
    """With the dependencies that the checkout has compiled already: what is tested is that no source is missing."""
    maturin = Path(sys.executable).with_name("maturin")
    target = os.environ.get("CARGO_TARGET_DIR", str(repository / "target"))
    done = subprocess.run(
        [str(maturin), "build", "--locked", "--profile", "dev", "--out", str(tmp_path)],
        cwd=sdist,
        env={**os.environ, "CARGO_TARGET_DIR": target},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-4000:]
    (wheel,) = tmp_path.glob("perfq-*.whl")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(tmp_path / "packages")
    packages = str(tmp_path / "packages")
    code = f"import sys; sys.path.insert(0, {packages!r}); from perfq._core import fnv1a64; print(fnv1a64(''))"
    told = subprocess.run([sys.executable, "-I", "-S", "-c", code], capture_output=True, text=True, check=False)
    assert told.stdout == "14695981039346656037\n", told.stderr


def fastest(command: list[str], **environment: str) -> float:
    """Seconds of the fastest of ten runs, so that the first, which unpacks, does not count."""
    taken = []
    for _ in range(10):
        before = time.perf_counter()
        subprocess.run(command, env=environment, capture_output=True, check=True)
        taken.append(time.perf_counter() - before)
    return min(taken)


def test_a_warm_start_is_near_that_of_an_installed_perfq(
    built: Path, python: Path, tmp_path: Path, installed: Callable[[], Path]
) -> None:
    """A ratio, with threefold slack; scripts/bench has the figures."""
    packed = fastest([str(python), str(built), "--version"], HOME=str(tmp_path))
    assert packed <= 3 * fastest([str(installed() / "bin" / "perfq"), "--version"])
