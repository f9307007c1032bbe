"""How values, keys and names are shown in errors: short, printable, unambiguous; and what was probably meant."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any, Final

from perfq.profile.tree import Path

_MAX_SHOWN: Final = 60


def show_value(value: Any) -> str:
    """A value as JSON on one line, shortened."""
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) >= 10**40:
        digits = str(value)
        return f"{digits[:12]}… ({len(digits.lstrip('-'))} digits)"
    text = show_text(json.dumps(value, ensure_ascii=False))
    return text if len(text) <= _MAX_SHOWN else f"{text[:_MAX_SHOWN]}…"


def show_path(path: Path) -> str:
    """`bursts.0.start_second`; a key that would be unclear in it is shown as JSON."""
    return ".".join(
        step if isinstance(step, str) and step and step.isprintable() and "." not in step else show_value(step)
        for step in path
    )


def show_text(text: str) -> str:
    """Safe on a terminal: what is not printable is escaped."""
    return "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text)


def nearest(word: str, known: Iterable[str]) -> str:
    """` (did you mean WORD?)`, or nothing where none is near."""
    import difflib

    near = difflib.get_close_matches(word, list(known), n=1)
    return f" (did you mean {near[0]}?)" if near else ""
