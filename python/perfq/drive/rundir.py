"""The run directory: never reused, written atomically, listed with checksums."""

from __future__ import annotations

import errno
import hashlib
import os
import re
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from perfq.errors import UsageError

#: Rendered from result.json or written after it; SHA256SUMS lists these, `artifacts[]` does not.
RENDERED = frozenset({"result.json", "report.md", "junit.xml", "SHA256SUMS"})

_LABEL = re.compile(r"[a-z0-9]([a-z0-9-]{0,38}[a-z0-9])?")


def new_run_id(profile_id: str) -> str:
    """An RFC 1123 label of at most 40 characters: the profile, the UTC minute, four random hex digits."""
    stem = re.sub(r"[^a-z0-9]+", "-", profile_id.lower()).strip("-")[:20].strip("-") or "run"
    return f"{stem}-{time.strftime('%m%d-%H%M%S', time.gmtime())}-{os.urandom(2).hex()}"


def check_run_id(run_id: str) -> str:
    """The run id itself; UsageError where it is no RFC 1123 label of at most 40 characters."""
    if not _LABEL.fullmatch(run_id):
        raise UsageError(
            f"--run-id: got {run_id!r}, expected 1 to 40 characters of a-z, 0-9 and '-', "
            "beginning and ending with a letter or digit"
        )
    return run_id


def place(given: Mapping[str, Any], stem: str) -> tuple[str, Path]:
    """The run's id and directory: what `--run-id` and `--out` say, else a new id and `runs/ID`. UsageError."""
    run_id = check_run_id(given["run_id"]) if given["run_id"] else new_run_id(stem)
    return run_id, Path(given["out"]) if given["out"] else Path("runs") / run_id


@dataclass(frozen=True)
class RunDirectory:
    """A directory that one run owns."""

    path: Path

    @classmethod
    def create(cls, path: Path) -> RunDirectory:
        """Makes the directory; UsageError where it holds something already or cannot be written."""
        try:
            path.mkdir(parents=True, exist_ok=True)
            if any(path.iterdir()):
                raise UsageError(f"--out {path}: the directory is not empty; a run never overwrites another")
            probe = path / ".perfq-write"
            probe.touch()
            probe.unlink()
        except FileExistsError as error:
            raise UsageError(f"--out {path}: a file of that name exists; name a directory") from error
        except OSError as error:
            reason = os.strerror(error.errno or errno.EIO).lower()
            raise UsageError(f"--out {path}: cannot be written ({reason}); name another directory") from error
        return cls(path)

    def write(self, name: str, text: str) -> Path:
        """Writes a file whole or not at all, flushed to disk; OSError where it cannot be."""
        target = self.path / name
        partial = self.path / f".{name}.partial"
        try:
            with partial.open("w", encoding="utf-8") as file:
                file.write(text)
                file.flush()
                os.fsync(file.fileno())
            partial.replace(target)
        except OSError:
            partial.unlink(missing_ok=True)
            raise
        return target

    def artifacts(self) -> list[dict[str, object]]:
        """Inputs and recordings as {path, bytes, sha256}, sorted by path; rendered files are left out."""
        return [self._entry(path) for path in self._files() if path.name not in RENDERED]

    def write_checksums(self) -> None:
        """SHA256SUMS over every file of the run, as `sha256sum -c` reads it."""
        entries = [self._entry(path) for path in self._files() if path.name != "SHA256SUMS"]
        self.write("SHA256SUMS", "".join(f"{entry['sha256']}  {entry['path']}\n" for entry in entries))

    def _files(self) -> list[Path]:
        return sorted(path for path in self.path.rglob("*") if path.is_file() and not path.name.startswith("."))

    def _entry(self, path: Path) -> dict[str, object]:
        with path.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
        name = path.relative_to(self.path).as_posix()
        return {"path": name, "bytes": path.stat().st_size, "sha256": digest}
