"""Files of cgroups as numbers. What is absent, or not readable, is None and never 0."""

from __future__ import annotations

from pathlib import Path


def text(file: Path) -> str | None:
    """None: there is no such file, or it may not be read."""
    try:
        return file.read_text()
    except OSError:
        return None


def number(file: Path) -> int | None:
    """A file of one number; None also for `max`."""
    found = (text(file) or "").strip()
    return int(found) if found.isdecimal() else None


def keyed(file: Path) -> dict[str, int] | None:
    """A file of `key number` lines; lines of another form are left out."""
    found = text(file)
    if found is None:
        return None
    pairs = (line.split() for line in found.splitlines())
    return {pair[0]: int(pair[1]) for pair in pairs if len(pair) == 2 and pair[1].isdecimal()}
