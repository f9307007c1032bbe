"""The runs under a folder: what they were, how they ended, and removing old ones."""

from __future__ import annotations

import json
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

import msgspec

from perfq.errors import worst
from perfq.measure.manifest import Manifest
from perfq.measure.manifests import read_manifest

#: Exit code of each verdict; the worst of several runs stands for them all.
_CODES: Final = {"PASS": 0, "FAIL": 3, "INVALID": 4, "ABORTED": 4}


@dataclass(frozen=True, slots=True)
class RunEntry:
    """A run directory, or that of `--repeat` with its runs inside."""

    path: Path
    kind: str
    profile: str
    #: None for a run without a client under test.
    client: str | None
    started_at: datetime
    #: Verdict of each run in order; None for one that has no result: it is under way or was killed.
    verdicts: tuple[str | None, ...]
    bytes: int

    @property
    def verdict(self) -> str | None:
        """The worst of the verdicts; None while one is missing."""
        if None in self.verdicts:
            return None
        known = [verdict for verdict in self.verdicts if verdict is not None]
        code = worst(_CODES.get(verdict, 4) for verdict in known)
        return next(verdict for verdict in known if _CODES.get(verdict, 4) == code)

    def runs(self) -> list[Path]:
        """The directory of each run, in order."""
        return _run_folders(self.path)


def find_runs(root: Path) -> list[RunEntry]:
    """The runs directly under a folder, the oldest first. What is no run directory is left out."""
    if not root.is_dir():
        return []
    entries = [entry for path in sorted(root.iterdir()) if path.is_dir() and (entry := read_run(path)) is not None]
    return sorted(entries, key=lambda entry: entry.started_at)


def read_run(path: Path) -> RunEntry | None:
    """A directory as an entry; None where it holds no manifest of ours."""
    found = [(run, manifest) for run in _run_folders(path) if (manifest := _manifest(run)) is not None]
    if not found:
        return None
    first = found[0][1]
    return RunEntry(
        path=path,
        kind=first.kind,
        profile=first.subject,
        client=first.client_name,
        started_at=datetime.fromisoformat(first.started_at).astimezone(UTC),
        verdicts=tuple(_verdict(run) for run, _ in found),
        bytes=sum(file.stat().st_size for file in path.rglob("*") if file.is_file()),
    )


def to_prune(entries: Sequence[RunEntry], *, keep: int | None, before: datetime | None) -> list[RunEntry]:
    """The finished runs beyond the newest `keep` that started before an instant (either may be None).

    A run without a result is never among them: it may be under way, and `perfq report` can still render it.
    """
    by_age = sorted(entries, key=lambda entry: entry.started_at, reverse=True)
    old = by_age[keep:] if keep is not None else by_age
    chosen = [entry for entry in old if before is None or entry.started_at < before]
    return [entry for entry in reversed(chosen) if entry.verdict is not None]


def remove(entry: RunEntry) -> None:
    """Removes the directory. OSError where it cannot be."""
    shutil.rmtree(entry.path)


def _run_folders(path: Path) -> list[Path]:
    return [path] if (path / "manifest.json").is_file() else sorted(path.glob("run-*"), key=_number)


def _number(path: Path) -> tuple[int, str]:
    digits = path.name.removeprefix("run-")
    return (int(digits) if digits.isdecimal() else 0, path.name)


def _manifest(run: Path) -> Manifest | None:
    try:
        return read_manifest(run)
    except (OSError, msgspec.DecodeError):
        return None


def _verdict(run: Path) -> str | None:
    try:
        return str(json.loads((run / "result.json").read_bytes())["verdict"]["status"])
    except (OSError, ValueError, KeyError, TypeError):
        return None
