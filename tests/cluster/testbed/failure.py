"""The one error of the test bed."""

from __future__ import annotations


class BedFailure(Exception):
    """One sentence for people, and the exit code that `scripts/testbed` ends with (as in perfq's own table)."""

    def __init__(self, message: str, code: int = 1) -> None:
        super().__init__(message)
        self.code = code
