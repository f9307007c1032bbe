"""ATIF of terminus, which types keystrokes into a terminal and reads its screen: what the screen proves.

There are no exit codes and no results of single commands. A command ran where the screen shows it behind a prompt, and
a prompt after it, in the same screen or in a later one. Everything else is not known.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from perfq.profile.trajectory.fates import Fate
from perfq.trajectory.importers.shell import is_key

#: What a line is looked for with: longer ones are broken by the screen's width.
_SHOWN: Final = 60
_AT_PROMPT: Final = re.compile(r"[#$]\s*\Z")
#: Longer pauses are cut by terminus itself.
MAX_PAUSE_S: Final = 60


@dataclass(frozen=True, slots=True)
class Typed:
    """Keystrokes, and the screen behind the step that they belong to."""

    keystrokes: str
    screen: str


def fates_of(typed: Sequence[Typed]) -> list[tuple[Fate, str | None]]:
    """The fate of each of all keystrokes of a session, and why it is no command."""
    shown = [_is_shown(one) for one in typed]
    return [_fate(typed, shown, number) for number in range(len(typed))]


def _is_shown(one: Typed) -> bool:
    """Whether the screen has its first line behind a prompt."""
    first = one.keystrokes.strip("\n").split("\n", 1)[0].strip()[:_SHOWN]
    flat = one.screen.replace("\n", "")
    return bool(first) and any(f"{prompt} {first}" in flat for prompt in "#$")


def _fate(typed: Sequence[Typed], shown: Sequence[bool], number: int) -> tuple[Fate, str | None]:
    one = typed[number]
    if not one.keystrokes.strip():
        return "ran", "a poll for more output"
    if is_key(one.keystrokes):
        return "ran", "a control key"
    if not one.keystrokes.endswith("\n"):
        return "unknown", "keystrokes without the key that enters them"
    if not shown[number]:
        return "unknown", "the screen does not show it behind a prompt"
    if _AT_PROMPT.search(one.screen.rstrip()) is not None:
        return "ran", None
    for later in range(number + 1, len(typed)):
        if shown[later]:
            return "ran", None
        if is_key(typed[later].keystrokes):
            return "still_running", None
        if _AT_PROMPT.search(typed[later].screen.rstrip()) is not None:
            return "ran", None
    return "unknown", "the screen does not show that it ended"
