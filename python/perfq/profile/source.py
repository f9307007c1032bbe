"""Where a document comes from: a file, standard input or bytes at hand, never more than its limit."""

from __future__ import annotations

import os
import stat
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Final

from perfq import units
from perfq.errors import UsageError
from perfq.profile.shown import show_text

MAX_BYTES: Final = 1 << 20
STDIN: Final = "<stdin>"


@dataclass(frozen=True, slots=True)
class Source:
    """The bytes of a document and the name that errors call it by."""

    name: str
    data: bytes


def read_source(path: str | os.PathLike[str], limit: int = MAX_BYTES, name: str | None = None) -> Source:
    """Reads a file, or standard input for `-`. UsageError (2) where it cannot be read or is too large.

    Errors call it by its path, unless it has another `name`. What has a size is refused by it, unread; of pipes and
    devices at most `limit` + 1 bytes are read.
    """
    if os.fspath(path) == "-":
        return Source(STDIN, _read(sys.stdin.buffer, STDIN, limit))
    name = name or show_text(os.fspath(path)) or '""'
    try:
        with Path(path).open("rb", buffering=0) as file:
            return Source(name, _read(file, name, limit))
    except IsADirectoryError:
        raise UsageError(f"{name}: got a directory, expected a file") from None
    except FileNotFoundError:
        raise UsageError(f"{name}: no such file") from None
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise UsageError(f"{name}: cannot be read: {reason}") from error


def _read(file: BinaryIO, name: str, limit: int) -> bytes:
    try:
        status = os.fstat(file.fileno())
    except OSError:  # not a file of the system: a test's stream
        status = None
    if status is not None and stat.S_ISREG(status.st_mode) and status.st_size > limit:
        raise UsageError(f"{name}: got {status.st_size} bytes, expected at most {units.format_bytes(limit)}")
    data = bytearray()
    while len(data) <= limit:
        piece = file.read(min(limit + 1 - len(data), 1 << 20))
        if not piece:
            return bytes(data)
        data += piece
    raise UsageError(f"{name}: got more than {units.format_bytes(limit)}, expected at most that")
