"""Runs one program in a pseudo-terminal and, when it ends or perfq does, leaves none of its children.

Started as `python -I -S supervisor.py` with two pipes, before anything of perfq can be imported:

- standard input: one line of JSON `{"argv", "env", "cwd", "pts"}`, then at most one line `{"stop": SECONDS}`.
  Its end means that perfq is gone, by whatever signal; everything is then killed.
- standard output: one line of JSON an event: `started {pid}` or `failed {stage, errno, error}`;
  `exited {t, code, signal}`; `ended {killed, left}`.

The supervisor is the child subreaper of all that the program starts: a grandchild that left the session
and ignores SIGHUP still becomes a child of it, and is killed. Linux only; the standard library only.
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import fcntl
import json
import os
import select
import signal
import termios
import time

PR_SET_PDEATHSIG = 1
PR_SET_CHILD_SUBREAPER = 36
#: Processes that outlive SIGKILL for this long (they hang in the kernel, or are another user's) are named, and
#: tried again.
GIVE_UP_AFTER = 10.0

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    Options = dict[str, Any]
    Seen = dict[str, int | None]

LIBC = ctypes.CDLL(None, use_errno=True)


def say(event: str, **fields: object) -> None:
    """One line to perfq; nobody may be listening any more."""
    line = json.dumps({"ev": event, **fields}) + "\n"
    with contextlib.suppress(OSError):
        os.write(1, line.encode())


def start(options: Options) -> int | None:
    """Forks the program. Returns its pid, or None after saying why it could not be started."""
    read_end, write_end = os.pipe()
    pid = os.fork()
    if pid == 0:
        become(options, write_end)
    os.close(write_end)
    with os.fdopen(read_end, "rb") as told:
        failure = told.read()
    if failure:
        os.waitpid(pid, 0)
        say("failed", **json.loads(failure))
        return None
    return pid


def become(options: Options, told: int) -> None:
    """In the child: own session, the terminal as its controlling one, then the program. Never returns."""
    stage = "terminal"
    try:
        LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        os.setsid()
        terminal = os.open(options["pts"], os.O_RDWR)
        fcntl.ioctl(terminal, termios.TIOCSCTTY, 0)
        for fd in (0, 1, 2):
            os.dup2(terminal, fd)
        if told != 3:
            os.dup2(told, 3)
            told = 3
        os.set_inheritable(3, False)
        close_from(4)
        signal.set_wakeup_fd(-1)
        for number in signal.valid_signals():
            with contextlib.suppress(OSError, ValueError):
                signal.signal(number, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_SETMASK, ())
        stage = "directory"
        os.chdir(options["cwd"])
        stage = "program"
        os.execvpe(options["argv"][0], options["argv"], options["env"])
    except OSError as error:
        answer = {"stage": stage, "errno": error.errno, "error": os.strerror(error.errno or 0)}
        os.write(told, json.dumps(answer).encode())
    except BaseException as error:
        os.write(told, json.dumps({"stage": stage, "errno": errno.EINVAL, "error": str(error)}).encode())
    os._exit(127)


def close_from(lowest: int) -> None:
    """Closes every descriptor from this number on."""
    for fd in map(int, os.listdir("/proc/self/fd")):
        if fd >= lowest:
            with contextlib.suppress(OSError):
                os.close(fd)


def descendants() -> list[int]:
    """All processes below this one, zombies left out."""
    children: dict[int, list[int]] = {}
    for entry in os.listdir("/proc"):
        if not entry.isdigit():
            continue
        try:
            with open(f"/proc/{entry}/stat", "rb") as stat:
                fields = stat.read().rpartition(b")")[2].split()
        except OSError:
            continue
        if fields[0] != b"Z":
            children.setdefault(int(fields[1]), []).append(int(entry))
    found, queue = [], [os.getpid()]
    while queue:
        below = children.get(queue.pop(), [])
        found += below
        queue += below
    return found


def reap(root: int, seen: Seen) -> bool:
    """Collects what has ended. Notes how the program itself ended in `seen`; False: no child is left."""
    while True:
        try:
            pid, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return False
        if pid == 0:
            return True
        if pid == root and not seen:
            code = os.waitstatus_to_exitcode(status)
            seen["t"] = time.monotonic_ns()
            seen["code"], seen["signal"] = (code, None) if code >= 0 else (None, -code)
            say("exited", **seen)


def kill_all(root: int, seen: Seen) -> None:
    """Kills every descendant, again and again until none is left; then says how many there were."""
    killed: set[int] = set()
    deadline = time.monotonic() + GIVE_UP_AFTER
    told = False
    while reap(root, seen):
        left = descendants()
        for pid in left:
            # A program that became another user's is not ours to end: it is named as left.
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
                killed.add(pid)
        if left and not told and time.monotonic() > deadline:
            say("ended", killed=len(killed - {root}), left=left)
            told = True
        time.sleep(0.002 if not told else 0.2)
    if not told:
        say("ended", killed=len(killed - {root}), left=[])


class Lines:
    """Lines of standard input as they come."""

    def __init__(self) -> None:
        self.pending = b""
        self.open = True

    def wait(self, seconds: float) -> bool:
        """Whether something, its end included, can be read within that time."""
        return bool(select.select([0], [], [], seconds)[0])

    def next(self) -> bytes | None:
        """The next complete line, read from the pipe where none is there yet; None where it is not."""
        if b"\n" not in self.pending:
            piece = os.read(0, 65536)
            self.open = bool(piece)
            self.pending += piece
        line, end, rest = self.pending.partition(b"\n")
        if not end:
            return None
        self.pending = rest
        return line


def main() -> None:
    os.setsid()
    close_from(3)
    LIBC.prctl(PR_SET_CHILD_SUBREAPER, 1)
    for name in ("INT", "QUIT", "HUP", "TERM", "TSTP", "PIPE"):
        signal.signal(signal.Signals[f"SIG{name}"], signal.SIG_IGN)
    wake_read, wake_write = os.pipe()
    os.set_blocking(wake_write, False)
    os.set_blocking(wake_read, False)
    signal.set_wakeup_fd(wake_write, warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    lines, first = Lines(), None
    while first is None and lines.open:
        first = lines.next()
    root = start(json.loads(first)) if first else None
    if root is None:
        return
    say("started", pid=root)
    supervise(root, lines, wake_read)


def supervise(root: int, lines: Lines, wake_read: int) -> None:
    """Until the program ends, perfq asks for its end and does not get it in time, or perfq is gone."""
    seen: Seen = {}
    deadline: float | None = None
    while lines.open and not seen and (deadline is None or time.monotonic() < deadline):
        left = None if deadline is None else max(0.0, deadline - time.monotonic())
        if b"\n" not in lines.pending:
            select.select([0, wake_read], [], [], left)
        with contextlib.suppress(BlockingIOError):
            os.read(wake_read, 4096)
        reap(root, seen)
        if seen or not (b"\n" in lines.pending or lines.wait(0)):
            continue
        line = lines.next()
        if line is not None and deadline is None:
            deadline = time.monotonic() + float(json.loads(line)["stop"])
            with contextlib.suppress(PermissionError):
                os.kill(root, signal.SIGTERM)
    kill_all(root, seen)


if __name__ == "__main__":
    main()
