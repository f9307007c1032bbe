"""Plain text: columns, wrapping, and what a client wrote made safe for a terminal."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence


def clean(text: object) -> str:
    """One line without control characters: nothing that a client wrote may drive the reader's terminal."""
    return " ".join("".join(sign if sign.isprintable() else " " for sign in str(text)).split())


def wrapped(text: str, width: int, *, indent: str = "") -> Iterator[str]:
    """Lines of at most `width` cells; a word that is longer stays whole."""
    yield from textwrap.wrap(
        text,
        max(width, 20),
        initial_indent=indent,
        subsequent_indent=indent + "  ",
        break_long_words=False,
        break_on_hyphens=False,
    )


def columns(rows: Sequence[Sequence[str]], *, right: Sequence[int] = ()) -> Iterator[str]:
    """Columns as wide as they need, two spaces between; those in `right` are aligned to the right."""
    if not rows:
        return
    widths = [max(len(row[at]) for row in rows) for at in range(len(rows[0]))]
    for row in rows:
        cells = [
            cell.rjust(width) if at in right else cell.ljust(width)
            for at, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        yield "  ".join(cells).rstrip()
