"""What a file is: told by its content, whatever its name ends in."""

from __future__ import annotations

from pathlib import Path
from typing import Final, Literal

from perfq.errors import UsageError

Told = Literal["document", "requests"]

#: What the native reader calls it → how it is read here.
_READ_AS: Final[dict[str, Told]] = {
    "trace": "requests",
    "kperf-replay": "requests",
    "kperf-load": "document",
    "kperf-load-group": "document",
    "kperf-replay-group": "document",
    # Neither of them, or broken: the reader of documents names what is wrong, with its line.
    "unknown": "document",
}


def is_url(argument: str) -> bool:
    """Whether an input is to be fetched."""
    return argument.startswith(("http://", "https://"))


def tell(path: Path, name: str) -> Told:
    """Whether a file is a document (a load profile, a runner group) or a list of requests (a trace, a replay profile).

    UsageError (2) where it cannot be read, and for an audit log, which is imported first. Errors call it `name`.
    """
    from perfq import _core

    try:
        kind, _ = _core.load_detect(path)
    except (OSError, ValueError) as error:
        raise UsageError(f"{name}: {_reason(error)}") from error
    if kind == "audit-log":
        raise UsageError(
            f"{name}: an audit log, expected what can be replayed; make a trace of it first: "
            f"perfq load import {name} --out trace.zst"
        )
    return _READ_AS[kind]


def called(text: object, path: Path | None, name: str) -> str:
    """What the native reader said of a file, in which it goes by its path, with the name that people know."""
    return str(text) if path is None else str(text).replace(str(path), name)


def _reason(error: OSError | ValueError) -> str:
    match error:
        case IsADirectoryError():
            return "got a directory, expected a file"
        case FileNotFoundError():
            return "no such file"
        case OSError():
            return f"cannot be read: {error.strerror or error}"
    return f"cannot be read: {error}"
