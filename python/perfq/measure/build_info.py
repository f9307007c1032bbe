"""Which perfq this is: version, commit, build, Rust and Python. For `--version --json` and manifests."""

from __future__ import annotations

import platform
import subprocess
from pathlib import Path
from typing import TypedDict


class BuildInfo(TypedDict):
    """`commit` is None where neither the build nor a checkout can tell it."""

    version: str
    commit: str | None
    build: str
    rust: str
    target: str
    python: str


def build_info() -> BuildInfo:
    """Of the running perfq."""
    from perfq import _core

    build = _core.build()
    return BuildInfo(
        version=build["version"],
        commit=build["commit"] or _commit_of_checkout(),
        build=build["profile"],
        rust=build["rustc"],
        target=build["target"],
        python=f"{platform.python_implementation()} {platform.python_version()}",
    )


def _commit_of_checkout() -> str | None:
    """The checkout that this file lies in, `-dirty` where files differ from the commit; None outside one."""
    root = Path(__file__).resolve().parents[3]
    if not (root / ".git").exists() or not (root / "rust" / "core").exists():
        return None
    command = ["git", "-C", str(root), "describe", "--always", "--dirty", "--abbrev=40", "--exclude=*"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=10, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.strip() or None
