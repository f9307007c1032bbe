"""What was probably meant, for command lines. Imports nothing until it is needed."""

from __future__ import annotations

from collections.abc import Iterable


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """` Did you mean 'plan'?`, or nothing where none is near."""
    import difflib

    near = difflib.get_close_matches(word, list(known), n=1)
    return f" Did you mean {near[0]!r}?" if near else ""
