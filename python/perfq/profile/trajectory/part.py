"""What the documents of `perfq trajectory` have in common: integers with limits, text that a process can be given."""

from __future__ import annotations

from typing import Annotated, Final

from pydantic import AfterValidator, Field

MAX_DAYS: Final = 30
MAX_MS: Final = MAX_DAYS * 86_400_000
MAX_BYTES: Final = 2**50
MAX_COUNT: Final = 100_000
SHA256: Final = "^[0-9a-f]{64}$"

#: Milliseconds of waits, timeouts and offsets.
Milliseconds = Annotated[int, Field(ge=0, le=MAX_MS)]
PositiveMilliseconds = Annotated[int, Field(ge=1, le=MAX_MS)]
Bytes = Annotated[int, Field(ge=0, le=MAX_BYTES)]
PositiveBytes = Annotated[int, Field(ge=1, le=MAX_BYTES)]
Sha256 = Annotated[str, Field(pattern=SHA256)]


def without_nul(value: str) -> str:
    """ValueError where no process can be given this text."""
    if "\0" in value:
        raise ValueError("text without NUL characters")
    return value


def _printable(value: str) -> str:
    if not value.isprintable():
        raise ValueError("1 to 200 printable characters")
    return value


#: What an argument or a variable can hold.
Argument = Annotated[str, AfterValidator(without_nul)]
Name = Annotated[str, Field(min_length=1, max_length=200), AfterValidator(_printable)]
