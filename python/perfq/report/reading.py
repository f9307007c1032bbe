"""result.json read back, with errors that a person can act on."""

from __future__ import annotations

import json
from pathlib import Path

import msgspec

from perfq.errors import UsageError
from perfq.measure.result import SCHEMA, Result


def read_result(path: Path) -> Result:
    """The result in a file. UsageError where it cannot be read or is none."""
    try:
        text = path.read_bytes()
    except OSError as error:
        raise UsageError(f"{path}: cannot be read ({error.strerror})") from error
    try:
        schema = json.loads(text).get("schema")
    except (ValueError, AttributeError, RecursionError) as error:
        raise UsageError(f"{path}: not a JSON object; name a run directory or its result.json") from error
    if schema != SCHEMA:
        raise UsageError(f"{path}: schema: got {schema!r}, expected {SCHEMA!r}; use the perfq that wrote it")
    from perfq.measure.result.whole import WholeResult

    try:
        return WholeResult.from_json(text)
    except msgspec.DecodeError as error:
        raise UsageError(f"{path}: not a {SCHEMA} document: {error}") from error
