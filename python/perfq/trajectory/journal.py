"""What was started on this machine, on disk before it is: so that a later start can end what a killed run has left."""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from perfq.trajectory.cgroup.group import MEMBERS_V1, Group
from perfq.trajectory.cgroup.places import UNIFIED, Hierarchy
from perfq.trajectory.cgroup.run_group import PREFIX
from perfq.trajectory.process import Process, row

_BOOT_ID = Path("/proc/sys/kernel/random/boot_id")


class StartedJournal:
    """Appends lines, each whole or with an OSError. A context manager; its end says that nothing is left to sweep."""

    def __init__(self, path: Path, run_id: str) -> None:
        """FileExistsError where the file exists: a journal belongs to one run."""
        self.path = path
        self._fd = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        me = row(os.getpid())
        owner = None if me is None else [me.process.pid, me.process.start_ticks]
        #: The last line was cut off.
        self._torn = False
        #: It says that nothing is left to sweep.
        self.closed = False
        self._append(k="run", run=run_id, boot=_boot(), owner=owner)
        self._open: set[int] = set()

    def __enter__(self) -> StartedJournal:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self, clean: bool = True) -> bool:
        """Whether all that was started is gone, and the journal says so. Once closed, it stays as it is."""
        if self._fd >= 0:
            # Where something is left the run is over all the same, though its process may go on.
            clean = clean and not self._open
            with contextlib.suppress(OSError):
                self._append(k="closed" if clean else "ended")
                self.closed = clean
            os.close(self._fd)
            self._fd = -1
        return self.closed

    def group(self, group: Group) -> None:
        """The run's cgroup, before it is made."""
        self._append(k="group", folders=_folders(group))

    def sandbox(
        self, n: int, marker: str, workspace: Path, group: Group | None = None, stop: Sequence[str] = ()
    ) -> None:
        """Before anything of it exists; OSError where it cannot be written. `stop`: of its runtime, to end it."""
        folders = None if group is None else _folders(group)
        self._append(k="sandbox", n=n, marker=marker, workspace=str(workspace), folders=folders, stop=list(stop))
        self._open.add(n)

    def process(self, n: int, process: Process) -> None:
        """As soon as it is there. Where the disk takes no more, its cgroup and its marker tell of it all the same."""
        with contextlib.suppress(OSError):
            self._append(k="process", n=n, pid=process.pid, start_ticks=process.start_ticks)

    def gone(self, n: int) -> None:
        """All of it has ended, and its workspace is removed; where that cannot be written, it is looked for again."""
        with contextlib.suppress(OSError):
            self._append(k="gone", n=n)
            self._open.discard(n)

    def _append(self, **line: object) -> None:
        left = ("\n" * self._torn + json.dumps(line) + "\n").encode()
        self._torn = True
        while left:
            # A disk that is nearly full, or a signal, may take a part; the rest says why it does not go.
            left = left[os.write(self._fd, left) :]
        self._torn = False


@dataclass
class Remnant:
    """A sandbox of which the journal does not say that it is gone."""

    n: int
    marker: str
    workspace: Path
    group: Group | None = None
    #: The command of its runtime that ends it; empty: it has none.
    stop: Sequence[str] = ()
    processes: set[Process] = field(default_factory=set)


@dataclass
class Remains:
    """What a journal leaves to be swept."""

    run: str
    path: Path
    #: The run still goes on: hands off.
    alive: bool
    #: It came to its end, and said that it left something.
    ended: bool
    #: The pid of the process that goes on.
    owner: int | None
    sandboxes: list[Remnant]
    #: The run's cgroup; None: it had none, or it is removed.
    group: Group | None = None


def remains(path: Path) -> Remains:
    """Reads a journal. A line that was cut off, by a full disk or the end of its run, counts as not written."""
    head: dict[str, Any] = {}
    sandboxes: dict[int, Remnant] = {}
    group: Group | None = None
    ended = False
    for text in path.read_text().splitlines():
        try:
            line = json.loads(text)
        except ValueError:
            continue
        match line["k"]:
            case "run":
                head = line
            case "sandbox":
                folders = _group(line.get("folders"))
                sandboxes[line["n"]] = Remnant(
                    line["n"], line["marker"], Path(line["workspace"]), folders, line.get("stop", ())
                )
            case "group":
                group = _group(line["folders"])
            case "process":
                sandboxes[line["n"]].processes.add(Process(line["pid"], line["start_ticks"]))
            case "gone":
                sandboxes.pop(line["n"], None)
            case "ended":
                ended = True
            case _:
                sandboxes.clear()
                group = None
    same_boot = head.get("boot") == _boot()
    if not same_boot:
        # Start times count from the boot: these processes are gone, and others may look like them.
        for remnant in sandboxes.values():
            remnant.processes.clear()
    owner = head.get("owner")
    now = row(owner[0]) if owner and same_boot else None
    alive = not ended and now is not None and not now.gone and [now.process.pid, now.process.start_ticks] == owner
    return Remains(
        head.get("run", ""), path, alive, ended, owner[0] if alive and owner else None, list(sandboxes.values()), group
    )


def _folders(group: Group) -> dict[str, list[object]]:
    return {key: [one.version, str(one.folder)] for key, one in group.hierarchies.items()}


def _group(folders: dict[str, list[Any]] | None) -> Group | None:
    """Only folders below one of our own name: nothing else is ever frozen, emptied or removed."""
    if not folders:
        return None
    group = Group({key: Hierarchy(version, Path(folder)) for key, (version, folder) in folders.items()})
    ours = all(any(part.startswith(PREFIX) for part in folder.parts) for folder in group.folders)
    return group if ours and {MEMBERS_V1, UNIFIED} & group.hierarchies.keys() else None


def _boot() -> str:
    return _BOOT_ID.read_text().strip()
