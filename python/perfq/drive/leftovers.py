"""What a client may leave behind: processes that outlive its end, and its home."""

from __future__ import annotations

import shlex
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from perfq.drive.environment import ClientHome

_PROC = Path("/proc")


@dataclass(frozen=True)
class Leftover:
    """One thing that is still there, as a report names it, and what a person would type to be rid of it."""

    name: str
    remove: str


def home_left(home: Path) -> Leftover:
    """The client's home."""
    return Leftover(str(home), f"rm -r {shlex.quote(str(home))}")


def processes_left(pids: Iterable[int]) -> list[Leftover]:
    """Those of the processes that have not ended by now; one that is only not reaped yet has."""
    found = []
    for pid in sorted(set(pids)):
        try:
            name, _, rest = (_PROC / str(pid) / "stat").read_text(errors="replace").partition("(")[2].rpartition(")")
        except OSError:
            continue
        if rest.split()[0] not in ("Z", "X"):
            found.append(Leftover(f"process {pid} ({name})", f"kill -KILL {pid}"))
    return found


def processes_at_home(home: ClientHome) -> list[int]:
    """Processes that were started with this home's probe in their environment: the client's, whoever their
    parent is now. Those of other users cannot be looked into and are not found."""
    entry = f"PERFQ_PROBE={home.probe_socket}".encode()
    found = []
    for process in _PROC.iterdir():
        if process.name.isdigit():
            try:
                environment = (process / "environ").read_bytes()
            except OSError:
                continue
            if entry in environment.split(b"\0"):
                found.append(int(process.name))
    return found
