"""Starts a process of this machine: in a session of its own and, where it has cgroups, born in them.

A launcher joins the cgroups, then becomes the command, so that all that the command does is counted in them. It is a
shell, which costs a fifth of what another Python would; where the environment holds what a shell would not hand on as
it is, it is launcher.py. Standard input, by which the shell tells what hinders it, is /dev/null with the exec.
"""

from __future__ import annotations

import contextlib
import errno
import os
import re
import select
import shutil
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Final

from perfq.trajectory.cgroup.group import Group

_SHELL: Final = "/bin/sh"
#: `COUNT DOOR… PROGRAM ARGUMENT…`: what cannot be written to is told.
_LAUNCHER: Final = """
n=$1; shift
while [ "$n" -gt 0 ]; do
  echo 0 2>/dev/null >"$1" || { echo "$1" >&0; exit 127; }
  shift; n=$((n - 1))
done
exec "$@" </dev/null
"""


#: Names that a shell hands on with their values.
_PLAIN: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
#: Those that it reads, or sets.
_ITS_OWN: Final = frozenset(
    {"BASHOPTS", "BASH_ENV", "ENV", "IFS", "OLDPWD", "OPTIND", "PPID", "SHELLOPTS", "SHLVL", "_"}
)


@dataclass(frozen=True)
class Order:
    """What is to be run. `env` is the whole environment and holds `marker` as one of its entries."""

    argv: Sequence[str]
    cwd: Path
    env: Mapping[str, str]
    #: `NAME=value`.
    marker: str
    #: What it is started in, made where it is not there; None: it has none.
    group: Group | None = None


@dataclass(frozen=True)
class Started:
    """A process that runs the program."""

    popen: subprocess.Popen[bytes]
    #: When it had become the program, CLOCK_MONOTONIC ns.
    at_ns: int


def start(order: Order, output: int, within_ns: int) -> Started:
    """Blocks until the program runs. OSError where it cannot be, or is not within that time."""
    if order.group is None:
        return Started(_popen(order.argv, order, output), time.monotonic_ns())
    _look_for(order)
    if order.group.vanished:
        order.group.make()
    read_fd, told = os.pipe2(os.O_CLOEXEC)
    try:
        try:
            popen = _launch(order, [str(door) for door in order.group.doors], output, told)
        finally:
            os.close(told)
        said = _said(read_fd, within_ns)
    finally:
        os.close(read_fd)
    if said is None:
        popen.kill()
        with contextlib.suppress(subprocess.TimeoutExpired):
            # A group that is frozen holds the kill back until its session is thawed, which its end is.
            popen.wait(1)
        raise TimeoutError(f"it was not started within {within_ns // 1_000_000} ms")
    if said:
        popen.wait()
        raise OSError(f"it could not be started in its cgroup: {os.fsdecode(said).strip()}")
    return Started(popen, time.monotonic_ns())


def _launch(order: Order, doors: Sequence[str], output: int, told: int) -> subprocess.Popen[bytes]:
    count = str(len(doors))
    if not _handed_on(order):
        python = [sys.executable, "-I", "-S", "-c", _launcher(), str(told), count, *doors]
        return _popen([*python, *order.argv], order, output, keep=(told,))
    # Bash as sh has its own say on these.
    unset = [word for name in ("OLDPWD", "PWD", "SHLVL", "_") if name not in order.env for word in ("-u", name)]
    shell = [_SHELL, "-c", _LAUNCHER, "sh", count, *doors, _env(), *unset]
    return _popen([*shell, *order.argv], order, output, told)


def _handed_on(order: Order) -> bool:
    """Whether a shell gives its environment to what it becomes as it was given it."""
    plain = all(_PLAIN.fullmatch(name) for name in order.env) and not _ITS_OWN & order.env.keys()
    return plain and order.env.get("PWD") in (None, str(order.cwd)) and "=" not in order.argv[0]


def _look_for(order: Order) -> None:
    """OSError where execvp(3) would not find it: a shell's exit code for that is also one that commands have."""
    name = order.argv[0]
    folders = [""] if "/" in name else order.env.get("PATH", os.defpath).split(":")
    files = [order.cwd / folder / name for folder in folders]
    found = [file for file in files if file.is_file()]
    if not any(os.access(file, os.X_OK) for file in found):
        number = errno.EACCES if found else errno.ENOENT
        raise OSError(number, os.strerror(number), name)


def _popen(
    argv: Sequence[str],
    order: Order,
    output: int,
    stdin: int = subprocess.DEVNULL,
    keep: Sequence[int] = (),
) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        argv,
        cwd=order.cwd,
        env=order.env,
        stdin=stdin,
        stdout=output,
        stderr=output,
        start_new_session=True,
        pass_fds=keep,
    )


@cache
def _env() -> str:
    """Of coreutils, by its path: the command's own PATH need not hold it."""
    return shutil.which("env", path=os.defpath) or "env"


@cache
def _launcher() -> str:
    return (resources.files("perfq.trajectory.local") / "launcher.py").read_text(encoding="utf-8")


def _said(read_fd: int, within_ns: int) -> bytes | None:
    """What the launcher had to say; nothing: it became the program; None: it does neither."""
    ready, _, _ = select.select([read_fd], [], [], within_ns / 1e9)
    return os.read(read_fd, 65_536) if ready else None
