"""Every error that perfq raises on purpose, and the exit code of each.

    PerfqError (1)
    ├── UsageError (2)             bad profile, flag or file, found before anything starts
    ├── BudgetMissed (3)
    ├── InvalidRun (4)             also: aborted by a stop condition
    ├── GuardRefused (5)
    ├── CleanupIncomplete (6)
    ├── TargetUnreachable (7)      before the start
    ├── WrongPlatform (78)
    └── Interrupted (130)

This module imports nothing of perfq and nothing heavy.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar

#: code → (name, meaning); docs/reference/exit-codes.md is generated from it.
EXIT_CODES: dict[int, tuple[str, str]] = {
    0: ("pass", "the run is valid and every budget was met"),
    1: ("internal error", "a bug of perfq"),
    2: ("usage", "bad flags, profile or file; found before anything started"),
    3: ("budget missed", "the run is valid and at least one budget was missed"),
    4: ("invalid", "the run proves nothing, or a stop condition aborted it"),
    5: ("guard refused", "the target may not be touched"),
    6: ("clean-up incomplete", "something was left behind; the command that removes it is printed"),
    7: ("target unreachable", "unreachable or unauthorised before the start"),
    78: ("wrong platform", "this Python or platform is not supported"),
    130: ("interrupted", "SIGINT or SIGTERM"),
}

#: Where several hold, the first of these is the exit code; 2 stands alone.
PRECEDENCE: tuple[int, ...] = (1, 6, 5, 7, 130, 4, 3, 0)


def worst(codes: Iterable[int]) -> int:
    """The exit code of several outcomes: 2 stands alone, else the first in PRECEDENCE; 0 for none."""
    seen = set(codes)
    if 2 in seen:
        return 2
    return next((code for code in PRECEDENCE if code in seen), 0 if not seen else max(seen))


class PerfqError(Exception):
    """One sentence for people, details under it. Printed as `perfq: SENTENCE`, without a traceback."""

    exit_code: ClassVar[int] = 1

    def __init__(self, sentence: str, *, details: Iterable[str] = ()) -> None:
        super().__init__(sentence)
        self.sentence = sentence
        self.details = tuple(details)

    def __str__(self) -> str:
        return "\n".join((self.sentence, *self.details))


class UsageError(PerfqError):
    """Bad input, found before anything started."""

    exit_code = 2


class BudgetMissed(PerfqError):
    """A valid run missed a budget."""

    exit_code = 3


class InvalidRun(PerfqError):
    """A run that proves nothing, or that a stop condition aborted."""

    exit_code = 4


class GuardRefused(PerfqError):
    """The target may not be touched."""

    exit_code = 5


class CleanupIncomplete(PerfqError):
    """Something was left behind."""

    exit_code = 6


class TargetUnreachable(PerfqError):
    """The target could not be reached, or did not let us in, before the start."""

    exit_code = 7


class WrongPlatform(PerfqError):
    """This Python or platform is not supported."""

    exit_code = 78


class Interrupted(PerfqError):
    """Ended by SIGINT or SIGTERM."""

    exit_code = 130
