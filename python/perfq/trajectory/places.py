"""Where sessions of this machine work and are noted down: one folder of this user, so that a later start finds what a
killed one has left."""

from __future__ import annotations

import contextlib
import os
import shlex
import shutil
import stat
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from perfq.drive.leftovers import Leftover, home_left, processes_left
from perfq.errors import InvalidRun
from perfq.trajectory.journal import Remains, remains
from perfq.trajectory.local.clearing import sweep
from perfq.trajectory.local.command import Bounds, LocalCommands

#: Between the making of a run's folder and its journal lies less, s.
_YOUNG_S: Final = 600


def folder() -> Path:
    """`perfq-sessions-UID` in the temporary folder, made where it is not there.

    InvalidRun where it belongs to somebody else: what lies in a folder of that name decides what is killed.
    """
    path = Path(tempfile.gettempdir()) / f"perfq-sessions-{os.getuid()}"
    try:
        path.mkdir(mode=0o700, exist_ok=True)
        found = path.lstat()
    except OSError as error:
        raise InvalidRun(f"{path}: cannot be made ({error.strerror}); set TMPDIR to a folder of yours") from error
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid() or found.st_mode & 0o022:
        raise InvalidRun(f"{path}: is not a folder that you alone can write to; remove it, or set TMPDIR to another")
    return path


@dataclass(frozen=True)
class Place:
    """That of one run."""

    run_id: str
    #: Sessions have their workspaces below it.
    workspaces: Path
    journal: Path

    @classmethod
    def of(cls, run_id: str) -> Place:
        """A name that no other run has: two runs may be given the same id."""
        workspaces = Path(tempfile.mkdtemp(prefix=f"{run_id}-", dir=folder()))
        return cls(run_id, workspaces, workspaces.with_suffix(".journal"))

    def close(self) -> list[Leftover]:
        """Removes what is empty by now; what is left of the run, as far as the journal knows."""
        left = [] if not self.journal.exists() else list(_left(remains(self.journal)))
        if not left:
            self.journal.unlink(missing_ok=True)
            shutil.rmtree(self.workspaces, ignore_errors=True)
        return left


def _left(what: Remains) -> Iterator[Leftover]:
    for sandbox in what.sandboxes:
        yield from processes_left(process.pid for process in sandbox.processes)
        if sandbox.workspace.is_dir():
            yield home_left(sandbox.workspace)
    groups = [one.group for one in what.sandboxes] + [what.group]
    for folder in [one for group in groups if group is not None for one in group.folders if one.is_dir()]:
        yield Leftover(f"cgroup {folder}", f"rmdir {shlex.quote(str(folder))}")


def _remove_unused() -> None:
    """Folders of runs that were killed before they had a journal. They are empty; one that is young may get one yet."""
    before = time.time() - _YOUNG_S
    for workspaces in folder().iterdir():
        if workspaces.is_dir() and not workspaces.with_suffix(".journal").exists():
            with contextlib.suppress(OSError):
                if workspaces.stat().st_mtime < before:
                    workspaces.rmdir()


async def sweep_earlier(commands: LocalCommands, bounds: Bounds) -> list[str]:
    """Ends and removes what killed runs of this user have left; a sentence for each of them, and for what remains."""
    told = []
    _remove_unused()
    for journal in sorted(folder().glob("*.journal")):
        try:
            found = remains(journal)
        except (OSError, ValueError, KeyError, TypeError, IndexError):
            told.append(f"{journal}: not a journal of sessions; it was left alone")
            continue
        if found.alive or not found.run:  # one without its first line is about to be written
            continue
        left = await sweep(commands, found.sandboxes, bounds)
        left += [] if found.group is None else found.group.remove()
        if found.sandboxes:
            how = "had left something" if found.ended else "was killed"
            told.append(f"run {found.run} {how}: {len(found.sandboxes)} sessions of it were ended and removed")
        told += left
        if not left:
            shutil.rmtree(journal.with_suffix(""), ignore_errors=True)
            journal.unlink(missing_ok=True)
    return told


def thaw_own() -> None:
    """Whatever this process has frozen runs again: it leaves at once, and nobody would thaw it until the next start."""
    for journal in folder().glob("*.journal"):
        with contextlib.suppress(OSError, ValueError, KeyError, TypeError, IndexError):
            found = remains(journal)
            for sandbox in found.sandboxes if found.owner == os.getpid() else []:
                if sandbox.group is not None:
                    sandbox.group.freezer.let_go()
