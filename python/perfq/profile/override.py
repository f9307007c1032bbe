"""What flags change in a document before it is checked: `--set bursts.0.start_second=3`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from perfq.errors import UsageError
from perfq.profile.document import Parsed, Problem, refuse
from perfq.profile.json_text import read_json
from perfq.profile.shown import show_text, show_value
from perfq.profile.tree import Path, Unreadable, has

_WORD: Final = re.compile(r"[A-Za-z][A-Za-z0-9_-]*")
#: JSON has a meaning for them, or none that a document may hold.
_NO_WORDS: Final = frozenset({"true", "false", "null", "NaN", "Infinity"})


@dataclass(frozen=True, slots=True)
class Override:
    """One part of a document, replaced. `flag` is what errors name: `--duration`, `--set`."""

    path: Path
    value: Any
    flag: str


def parse_set(text: str, option: str = "--set") -> Override:
    """`KEY=JSON` → an override; a plain word that JSON has no meaning for is text.

    UsageError (2) where the key or the value is missing or wrong.
    """
    key, sign, written = text.partition("=")
    steps = key.strip().split(".")
    flag = f"{option} {show_text(text)}"
    if not sign or not all(steps):
        raise UsageError(f"{flag}: got {show_value(text)}, expected KEY=JSON such as bursts.0.start_second=3")
    path = tuple(int(step) if step.isdecimal() else step for step in steps)
    if _WORD.fullmatch(written) and written not in _NO_WORDS:
        return Override(path, written, option)
    try:
        tree = read_json(written)
    except Unreadable as error:
        raise UsageError(
            f"{flag}: got {show_text(written) or 'nothing'}, expected a JSON value (text in double quotes: "
            f"{option} '{key}=\"…\"')"
        ) from error
    if tree.flaws:
        raise refuse(flag, [Problem(flag, flaw.path, flaw.got, flaw.expected) for flaw in tree.flaws])
    return Override(path, tree.value, option)


def apply_overrides(parsed: Parsed, overrides: Sequence[Override]) -> list[Problem]:
    """Changes the document's value in place; problems where a step leads nowhere. New keys are the model's to judge."""
    problems = []
    for override in overrides:
        parsed.positions.overrides[override.path] = override.flag
        complaint = _replace(parsed.value, override)
        if complaint is not None:
            problems.append(Problem(override.flag, override.path, *complaint))
    return problems


def _replace(value: Any, override: Override) -> tuple[str, str] | None:
    *above, last = override.path
    for step in above:
        if not has(value, step):
            return f"no {show_value(step)} there", _choices(value)
        value = value[step]
    if isinstance(value, dict) and isinstance(last, str):
        value[last] = override.value
    elif isinstance(value, list) and isinstance(last, int) and last <= len(value):
        value[last : last + 1] = [override.value]
    else:
        return f"no {show_value(last)} there", _choices(value)
    return None


def _choices(value: Any) -> str:
    if isinstance(value, dict):
        return f"one of {', '.join(value)}" if value else "a mapping with keys"
    if isinstance(value, list):
        return f"a number from 0 to {len(value)}, where {len(value)} adds one"
    return f"a mapping or list, not {show_value(value)}"
