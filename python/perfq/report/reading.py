"""result.json read back, with errors that a person can act on."""

from __future__ import annotations

import json
from pathlib import Path

from pydantic import ValidationError

from perfq.errors import UsageError
from perfq.measure.result import SCHEMA, Result

#: So many complaints about a document are listed.
NAMED = 5


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
    except ValidationError as error:
        raise UsageError(f"{path}: not a {SCHEMA} document", details=complaints(error)) from error


def complaints(error: ValidationError) -> list[str]:
    """`latency.input.p95: got 'x', expected …`, the first few."""
    found = error.errors(include_url=False)
    lines = [f"  {'.'.join(str(part) for part in one['loc'])}: {one['msg']}" for one in found[:NAMED]]
    return lines + ([f"  … and {len(found) - NAMED} more"] if len(found) > NAMED else [])
