"""Terminals for the tests: the supervisor's command, a small terminal's options, a poll with a deadline."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

import perfq.drive

SUPERVISOR = str(Path(perfq.drive.__file__).with_name("supervisor.py"))


def options(program: str, **more: Any) -> dict[str, Any]:
    """A Python program (its text) in a small terminal."""
    return {
        "argv": [sys.executable, "-I", "-S", "-c", program],
        "env": {"PATH": os.environ["PATH"], "TERM": "xterm-256color", "LANG": "C.UTF-8"},
        "cwd": "/",
        "cols": 80,
        "rows": 24,
        "supervisor": [sys.executable, "-I", "-S", SUPERVISOR],
        **more,
    }


def alive(pid: int) -> bool:
    """Whether the process exists and is no zombie."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False
