"""A second build of perfq.pyz, in a folder whose name is longer than the checkout's and which shares nothing with it.

`scripts/test` starts it beside the first build, since each ends with minutes of one CPU; the tests alone make it when
they ask for it. The folder stays, so that what other projects wrote is compiled there once and not with each run.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

#: What git calls the checkout's own files.
LISTED = ("ls-files", "--cached", "--others", "--exclude-standard")


def git(repository: Path, *args: str) -> str:
    command = ["git", "-C", str(repository), *args]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


def copied(repository: Path) -> Path:
    """The checkout's files as they are now, in the other folder; what it built before stays there."""
    copy = repository / ".build" / "a-folder-with-a-longer-name" / "checkout"
    listed = {name for name in git(repository, *LISTED).splitlines() if (repository / name).is_file()}
    for path in [path for path in copy.rglob("*") if path.is_file()]:
        name = str(path.relative_to(copy))
        if name not in listed and not name.startswith(("target/", ".build/")):
            path.unlink()
    for name in listed:
        (copy / name).parent.mkdir(parents=True, exist_ok=True)
        # With its time: Cargo compiles again what is newer than its build.
        shutil.copy2(repository / name, copy / name)
    return copy


def built_elsewhere(repository: Path) -> Path:
    """The file that the checkout's sources make in the other folder, with the tools of scripts/build-pyz.

    What the build says goes to stderr, if it fails. Raises CalledProcessError then.
    """
    subprocess.run([str(repository / "scripts" / "build-pyz"), "--tools-only"], cwd=repository, check=True)
    # The copy has no history of its own: it is told the time and the commit.
    epoch = git(repository, "log", "-1", "--format=%ct")
    commit = git(repository, "describe", "--always", "--dirty", "--abbrev=40", "--exclude=*")
    environment = {name: value for name, value in os.environ.items() if name != "CARGO_TARGET_DIR"}
    copy = copied(repository)
    subprocess.run(
        [str(repository / ".build" / "tools" / "bin" / "python"), "pyz/build.py"],
        cwd=copy,
        env={**environment, "SOURCE_DATE_EPOCH": epoch, "PERFQ_COMMIT": commit},
        stdout=subprocess.DEVNULL,
        check=True,
    )
    return copy / "dist" / "perfq.pyz"


if __name__ == "__main__":
    # A shell lets its background ignore Ctrl-C; this build ends with the other one.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        sys.stdout.write(f"{built_elsewhere(Path(__file__).resolve().parents[2])}\n")
    except subprocess.CalledProcessError as error:
        sys.exit(f"perfq: the second build failed: {error}")
