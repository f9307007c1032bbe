"""Programs that send requests too, found on PATH; what is not installed is not measured.

vegeta: `go install github.com/tsenart/vegeta/v12@v12.13.0`. oha: `cargo install oha`. kperf: `go build ./cmd/kperf` in
a checkout of it; `kperf-replay` is the same of its branch unstable-replay, which alone knows replays.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

#: Those that say their version; the others are Go programs, whose build says it.
SAYS_IT = {"oha"}


def peer(name: str) -> Path | None:
    """The program; None where it is not installed."""
    found = shutil.which(name)
    return Path(found) if found else None


def version(name: str) -> str:
    """As the program or its build says it; "unknown" where neither does."""
    program = peer(name)
    if program is None:
        return "not installed"
    if name in SAYS_IT:
        return subprocess.run([program, "--version"], capture_output=True, text=True, check=False).stdout.split()[-1]
    if shutil.which("go"):
        built = subprocess.run(["go", "version", "-m", program], capture_output=True, text=True, check=False).stdout
        # A module that was built in its own checkout has no version; its commit stands beside it.
        for pattern in (r"\tmod\t\S+\t(v\S+)", r"vcs\.revision=(\S+)"):
            if found := re.search(pattern, built):
                return found[1]
    return "unknown"
