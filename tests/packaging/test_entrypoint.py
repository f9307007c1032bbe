"""The container's entrypoint: a cache folder where one is missing, and signals that reach perfq."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import time
from pathlib import Path

import pytest

pytestmark = pytest.mark.packaging


@pytest.fixture
def image(built: Path, python: Path, repository: Path, tmp_path: Path) -> Path:
    """A folder as an image has it: the entrypoint, the file, and python3 on a PATH of its own."""
    folder = tmp_path / "opt"
    folder.mkdir()
    shutil.copy(built, folder)
    shutil.copy(repository / "scripts" / "entrypoint.sh", folder)
    (folder / "python3").symlink_to(python)
    return folder


def environment(image: Path, **more: str) -> dict[str, str]:
    return {"PATH": f"{image}:/usr/bin:/bin", "TMPDIR": str(image.parent), **more}


@pytest.mark.parametrize("home", [{}, {"HOME": "/sys"}], ids=["no HOME", "read-only HOME"])
def test_where_home_cannot_be_written_it_unpacks_under_tmp(image: Path, home: dict[str, str]) -> None:
    done = subprocess.run(
        [str(image / "entrypoint.sh"), "--version"],
        env=environment(image, **home),
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    cache = image.parent / f"perfq-{os.getuid()}"
    assert cache.stat().st_mode & 0o777 == 0o700
    assert list(cache.glob("perfq.pyz_*"))


def test_a_writable_home_is_used_as_ever(image: Path, tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    command = [str(image / "entrypoint.sh"), "--version"]
    subprocess.run(command, env=environment(image, HOME=str(home)), capture_output=True, check=True)
    assert list((home / ".shiv").glob("perfq.pyz_*"))


def test_a_cache_folder_of_someone_else_is_refused(image: Path) -> None:
    (image.parent / f"perfq-{os.getuid()}").symlink_to("/usr")
    done = subprocess.run(
        [str(image / "entrypoint.sh"), "--version"], env=environment(image), capture_output=True, text=True, check=False
    )
    assert done.returncode == 78
    assert "SHIV_ROOT" in done.stderr


def test_the_signal_that_ends_a_container_reaches_perfq(image: Path, tmp_path: Path) -> None:
    """perfq takes the shell's place: the process that the container runtime signals is perfq itself."""
    command = [str(image / "entrypoint.sh"), "plan", "-"]
    with subprocess.Popen(command, env=environment(image, HOME=str(tmp_path)), stdin=subprocess.PIPE) as running:
        deadline = time.monotonic() + 60
        while b"perfq.pyz" not in Path(f"/proc/{running.pid}/cmdline").read_bytes().split(b"\0", 1)[-1].split(b"\0")[0]:
            assert time.monotonic() < deadline, "perfq did not take the shell's place"
            time.sleep(0.01)
        running.send_signal(signal.SIGTERM)
        assert running.wait(60) == -signal.SIGTERM
