"""The contract tests' own programs, built where they are not there yet.

They are kept outside the checkout, in a folder named by their sources: under `PERFQ_CONTRACT_CLIENTS`, by
default perfq/contract-clients in the user's cache folder. Rust keeps its objects in target/.

`python builds.py [PROGRAM…]` builds all, or those named, where their compilers are installed.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
TOP = HERE.parents[2]


@dataclass(frozen=True)
class Program:
    """One program: its folder here, and how it is built. `{out}` in the command is where it has to be."""

    folder: str
    command: Sequence[str]
    environment: dict[str, str]
    #: Where the build leaves it, if not at `{out}`.
    made: Path | None = None

    @property
    def sources(self) -> list[Path]:
        """What it is made of."""
        return sorted(path for path in (HERE / self.folder).rglob("*") if path.is_file() and "target" not in path.parts)

    def digest(self) -> str:
        """Of its sources and the command."""
        sha = hashlib.sha256(repr((self.command, self.environment)).encode())
        for path in self.sources:
            sha.update(f"{path.relative_to(HERE)}\0".encode() + path.read_bytes() + b"\0")
        return sha.hexdigest()[:12]


GO_INFORMER = Program(
    "go_informer",
    ["go", "build", "-trimpath", "-buildvcs=false", "-ldflags", "-s -w", "-o", "{out}", "."],
    # The same flags as the test bed's kubectl, so that both builds share compiled packages.
    {"GOWORK": "off", "GOFLAGS": "-mod=readonly", "CGO_ENABLED": "0", "GOGC": "400"},
)
_RUST_TARGET = TOP / "target" / "contract-clients"
KUBE_WATCHER = Program(
    "kube_watcher",
    ["cargo", "build", "--quiet", "--locked"],
    {"CARGO_TARGET_DIR": str(_RUST_TARGET)},
    _RUST_TARGET / "debug" / "kube-watcher",
)


def _cache() -> Path:
    named = os.environ.get("PERFQ_CONTRACT_CLIENTS")
    if named:
        return Path(named)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "perfq" / "contract-clients"


def built(program: Program) -> Path:
    """The program's path. CalledProcessError with the compiler's words where it cannot be built."""
    folder = _cache()
    folder.mkdir(parents=True, exist_ok=True)
    target = folder / f"{program.folder}-{program.digest()}"
    # One build at a time; who waited finds it done.
    with (folder / f".{program.folder}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not target.exists():
            new = target.with_suffix(".new")
            command = [part.replace("{out}", str(new)) for part in program.command]
            subprocess.run(command, cwd=HERE / program.folder, env={**os.environ, **program.environment}, check=True)
            if program.made is not None:
                shutil.copy2(program.made, new)
            new.rename(target)
    return target


if __name__ == "__main__":
    # A shell lets its background ignore Ctrl-C; this build ends with the others.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for each in (GO_INFORMER, KUBE_WATCHER):
        if each.folder in (sys.argv[1:] or each.folder) and shutil.which(each.command[0]):
            built(each)
