"""A file of requests made into a trace."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from perfq.errors import UsageError
from perfq.load.told import called, tell

if TYPE_CHECKING:
    from perfq._core import LoadConverted
    from perfq.load.at_hand import Input


def convert_input(found: Input, out: Path, options: Mapping[str, Any]) -> LoadConverted:
    """Of an input that lists its requests. UsageError (2) for any other, and where it cannot be read or written."""
    if found.replayed is not None and found.replayed.path is not None:
        return as_trace((found.replayed.path, found.replayed.name), out, options)
    if tell(found.path, found.name) != "requests":
        raise UsageError(f"{found.name}: a load profile draws its requests as it runs; there is nothing to convert")
    return as_trace((found.path, found.name), out, options)


def as_trace(source: tuple[Path, str], out: Path, options: Mapping[str, Any]) -> LoadConverted:
    """Writes the trace of a file (its path, and what errors call it). UsageError (2): NAME:LINE: what is wrong."""
    from perfq import _core

    path, name = source
    try:
        return _core.load_convert(path, out, dict(options))
    except (OSError, ValueError) as error:
        raise UsageError(called(error, path, name)) from error
