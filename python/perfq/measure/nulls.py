"""Where a document has no value: JSON pointers, each of which a warning explains."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any


def null_fields(pointer: str, value: Any, leaving: Collection[str]) -> Iterator[str]:
    """The pointers of all nulls at and below a value, without those at or below the pointers in `leaving`."""
    if pointer in leaving:
        return
    if value is None:
        yield pointer
    elif isinstance(value, dict):
        for key, inner in value.items():
            yield from null_fields(f"{pointer}/{key.replace('~', '~0').replace('/', '~1')}", inner, leaving)
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield from null_fields(f"{pointer}/{index}", inner, leaving)
