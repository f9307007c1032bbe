"""One test bed: brought up in a folder of its own, taken down to nothing.

What stands in the folder: `bed.json` (the record), `kubeconfig`, `audit.log`, `kube-apiserver.log`, `etcd.log`, the
credentials and etcd's data. A bed may belong to a process; the next `up`, in whatever folder, takes down those whose
process is gone.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import json
import os
import shutil
import socket
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from . import control_plane, kubeconfig
from .api import Api
from .control_plane import Options
from .credentials import Credentials
from .failure import BedFailure
from .processes import Process
from .programs import cache_folder, program, say

_RECORD = "bed.json"
#: The API server was seen ready after 1.5 s on two idle cores; a busy machine is given its time.
READY_S = 120
#: On the namespace kube-system: by it anyone can tell that this server is a test bed, whatever tunnel leads to it.
LABEL = "perfq.dev/testbed"
#: Then the process is killed: nothing of a bed outlives it.
STOP_S = 10


@dataclass(frozen=True)
class Bed:
    """A test bed that is up, or what is on record of one."""

    folder: Path
    options: Options
    server: str
    processes: list[Process] = field(default_factory=list)
    owner: Process | None = None

    @property
    def kubeconfig(self) -> Path:
        """The path of its kubeconfig; the contexts are those of the module of this name."""
        return self.folder / "kubeconfig"

    @property
    def audit_log(self) -> Path:
        """The path of the API server's audit log, one JSON event a line."""
        return self.options.audit_log_in(self.folder)

    def api(self) -> Api:
        """Plain requests as the administrator."""
        return Api.of(self.kubeconfig, kubeconfig.CONTEXT)

    @property
    def up(self) -> bool:
        """True while all of its processes live."""
        return bool(self.processes) and all(process.alive for process in self.processes)

    def record(self) -> Bed:
        """Writes it down, whole or not at all."""
        document = {
            "options": self.options.as_json,
            "server": self.server,
            "processes": [asdict(process) for process in self.processes],
            "owner": asdict(self.owner) if self.owner else None,
        }
        new = self.folder / f"{_RECORD}.new"
        new.write_text(json.dumps(document, indent=2) + "\n")
        new.rename(self.folder / _RECORD)
        return self

    @staticmethod
    def on_record(folder: Path) -> Bed | None:
        """The bed of this folder; None where there is none."""
        try:
            document: dict[str, Any] = json.loads((folder / _RECORD).read_text())
        except FileNotFoundError:
            return None
        return Bed(
            folder.absolute(),
            Options(**document["options"]),
            document["server"],
            [Process(**process) for process in document["processes"]],
            Process(**document["owner"]) if document["owner"] else None,
        )


def up(folder: Path, options: Options | None = None, owner: Process | None = None) -> Bed:
    """Brings a bed up in `folder` and returns it ready.

    A bed that is up there already is returned where its options are the same. What a crashed run left there is taken
    down first. Raises BedFailure where the folder holds something else, a program is missing or does not start.
    """
    options = options or Options()
    folder = folder.absolute()
    programs = [program("etcd"), program("kube-apiserver")]
    down_abandoned()
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    with _alone(folder):
        before = Bed.on_record(folder)
        if before and before.up:
            if before.options == options:
                return before
            raise BedFailure(f"a test bed with other options is up in {folder}; take it down first", 2)
        if before:
            _take_down(before)
        elif any(folder.iterdir()):
            raise BedFailure(f"{folder} holds files that are not a test bed's; name an empty folder", 2)
        bed = Bed(folder, options, "", owner=owner).record()
        _register(folder)
        try:
            return _started(bed, programs)
        except BaseException:
            down(folder)
            raise


def down(folder: Path) -> bool:
    """Stops what `up` started in this folder, by process id, and removes all of it. False where there is no bed."""
    folder = folder.absolute()
    bed = Bed.on_record(folder)
    if bed is None:
        return False
    _take_down(bed)
    with contextlib.suppress(OSError):  # where it is not ours alone
        folder.rmdir()
    _link(folder).unlink(missing_ok=True)
    return True


def down_abandoned() -> None:
    """Takes down every bed whose process has gone."""
    for link in _links().glob("*"):
        try:
            folder = link.readlink()
        except FileNotFoundError:
            continue  # taken down by its own process in this moment
        bed = Bed.on_record(folder)
        if bed is None:
            link.unlink(missing_ok=True)
        elif bed.owner is not None and not bed.owner.alive:
            say(f"taking down the test bed that a run left behind in {folder}")
            down(folder)


@contextlib.contextmanager
def running(folder: Path, options: Options | None = None) -> Iterator[Bed]:
    """A bed as long as the block; it belongs to this process."""
    try:
        yield up(folder, options, Process.at(os.getpid(), "owner"))
    finally:
        down(folder)


def _started(bed: Bed, programs: list[Path]) -> Bed:
    credentials = Credentials.make(bed.folder / "credentials")
    (bed.folder / "audit-policy.yaml").write_text(control_plane.audit_policy(bed.options.audit_level))
    bed.audit_log.parent.mkdir(parents=True, exist_ok=True)
    etcd = Process.start("etcd", control_plane.etcd(programs[0]), bed.folder)
    bed = replace(bed, processes=[etcd]).record()
    deadline = time.monotonic() + READY_S
    while True:
        port = _free_port()
        command = control_plane.api_server(programs[1], port, credentials, bed.options)
        server = Process.start("kube-apiserver", command, bed.folder)
        bed = replace(bed, processes=[etcd, server], server=f"https://127.0.0.1:{port}").record()
        kubeconfig.write(bed.kubeconfig, bed.server, credentials)
        try:
            _wait_until_ready(bed, deadline)
            break
        except _PortTaken:
            bed = replace(bed, processes=[etcd]).record()
    label = {"metadata": {"labels": {LABEL: "true"}}}
    named = bed.api().ask("/api/v1/namespaces/kube-system", "PATCH", label, content_type="application/merge-patch+json")
    if named.status != 200:
        raise BedFailure(f"kube-system took no label: {named.status} {named.body.decode(errors='replace')}")
    return bed


class _PortTaken(Exception):
    """Somebody was faster; another port will do."""


def _wait_until_ready(bed: Bed, deadline: float) -> None:
    api = bed.api()
    # The server makes these namespaces when it is ready, not before.
    wanted = ["/readyz", "/api/v1/namespaces/default", "/api/v1/namespaces/kube-system"]
    while not all(api.answers(path) for path in wanted):
        for process in bed.processes:
            if not process.alive:
                log = bed.folder / f"{process.name}.log"
                text = log.read_text(errors="replace")
                if "bind: address already in use" in text:
                    log.unlink()
                    raise _PortTaken
                raise BedFailure(f"{process.name} ended before it was ready; its last words:\n{text[-2000:]}")
        if time.monotonic() > deadline:
            raise BedFailure(f"the API server at {bed.server} was not ready after {READY_S} s")
        time.sleep(0.05)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def _take_down(bed: Bed) -> None:
    """Its processes, those that use others first, and what stands in its folder; the record goes last."""
    for process in reversed(bed.processes):
        process.stop(STOP_S)
    for entry in sorted(bed.folder.iterdir(), key=lambda entry: entry.name == _RECORD):
        if entry.is_dir() and not entry.is_symlink():
            shutil.rmtree(entry)
        else:
            entry.unlink()


@contextlib.contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """Keeps two from bringing up the same folder at once. The folder is its own lock, so none is left behind."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
    except BlockingIOError:
        raise BedFailure(f"a test bed is just being brought up in {folder}", 2) from None
    finally:
        os.close(handle)


def _links() -> Path:
    """Links to the folders of all beds of this user."""
    return cache_folder() / "beds"


def _link(folder: Path) -> Path:
    return _links() / hashlib.sha256(str(folder).encode()).hexdigest()[:16]


def _register(folder: Path) -> None:
    link = _link(folder)
    link.parent.mkdir(parents=True, exist_ok=True)
    link.unlink(missing_ok=True)
    link.symlink_to(folder)
