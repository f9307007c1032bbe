"""Clauses of a predicate: true, false, or not to be told; and what they say together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Clause:
    """One condition, and whether it held; None where the record cannot say."""

    text: str
    held: bool | None


def together(clauses: Sequence[Clause]) -> tuple[bool | None, str | None]:
    """False if one is false, else None if one cannot be told, else true; and the clauses that decided."""
    for verdict, says in ((False, "did not hold"), (None, "cannot be told")):
        decisive = [clause.text for clause in clauses if clause.held is verdict]
        if decisive:
            return verdict, "; ".join(f"{text}: {says}" for text in decisive)
    return True, None
