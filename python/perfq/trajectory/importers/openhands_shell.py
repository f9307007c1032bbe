"""OpenHands' shell, the same in V0 and V1: what a result says became of a command.

Its exit code is -1 for a command that has not ended (two kinds of time limit), for one that was not taken, and where
the code could not be read; the sentence behind the output (`metadata.suffix`) tells which.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from perfq.profile.trajectory.fates import Fate

_REFUSALS: Final = (
    "is NOT executed",
    "Cannot execute multiple commands at once",
    "No previous running command",
)
_NO_OUTPUT: Final = "has no new output after"
_TIMED_OUT: Final = re.compile(r"\[The command timed out after ([0-9]{1,9}(?:\.[0-9]*)?) seconds")
_CODE: Final = re.compile(r"\[(?:The command completed|Command finished) with exit code (-?[0-9]{1,9})")
_UNREADABLE: Final = "completed but the exit code could not be determined"


@dataclass(frozen=True, slots=True)
class Said:
    """What a result says."""

    fate: Fate
    exit_code: int | None = None
    #: The time limit that it ran into, s.
    limit: float | None = None


def read_result(code: int | None, text: str, *, is_error: bool = False) -> Said:
    """From the exit code and the sentence behind the output (or the output, where nothing stands behind it)."""
    if code is not None and code != -1:
        return Said("ran", code)
    if any(sentence in text for sentence in _REFUSALS):
        return Said("refused")
    limit = _TIMED_OUT.search(text)
    if limit is not None:
        return Said("timed_out", limit=float(limit[1]))
    if _NO_OUTPUT in text:
        return Said("still_running")
    if _UNREADABLE in " ".join(text.split()):
        return Said("ran")
    completed = _CODE.search(text)
    if completed is not None:
        found = int(completed[1])
        return Said("ran", None if found == -1 else found)
    # V1 gives no code at all to what it did not take: a wrong argument, a limit that is too long.
    return Said("refused" if code is None and is_error else "unknown")
