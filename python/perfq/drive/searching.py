"""A search as it is run: one value after another, each judged, until the highest that holds is confirmed."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from perfq.drive.bisection import Bisection, Try
from perfq.errors import BudgetMissed, InvalidRun, PerfqError

if TYPE_CHECKING:
    from perfq.judge.verdict import Judgement

#: A run that proves nothing is tried so often in all.
_TRIES: Final = 2


@dataclass(frozen=True)
class Tried:
    """What came of one run; `held` is None where it proves nothing of the value."""

    judgement: Judgement
    held: bool | None
    #: Whether another run of the same may prove more.
    again: bool = True
    #: What it was that proved nothing, where it is no rule of validity.
    why: str | None = None


def search(bisection: Bisection, once: Callable[[Try], Tried], named: Callable[[float], str]) -> tuple[int, str]:
    """Runs until the search is over; the exit code, and a clause on how it ended. `named` tells a value: `100/s`.

    What the runs so far came to is not lost where one cannot be made, since the target fell or the disk is full.
    """
    while (tried := bisection.next()) is not None:
        for _ in range(_TRIES):
            try:
                came = once(tried)
            except PerfqError as error:
                return error.exit_code, f"at {named(tried.value)}: {error.sentence}"
            verdict = came.judgement.result.verdict
            if verdict.status == "ABORTED":
                return came.judgement.exit_code, "; ".join(verdict.reasons)
            if came.held is not None or not came.again:
                break
        if came.held is None:
            broken = came.why or ", ".join(_broken(came.judgement)) or verdict.status
            return InvalidRun.exit_code, f"at {named(tried.value)} the run proved nothing ({broken})"
        bisection.note(tried, held=came.held)
    if bisection.found is None:
        return BudgetMissed.exit_code, f"not even {named(bisection.lo)} held"
    return 0, "confirmed"


def held(judgement: Judgement, of_the_target: Collection[str]) -> bool | None:
    """Whether the value held; None: the run proves nothing of it.

    A broken rule of validity that is of the target's own doing means that it did not hold; another one, or a stop,
    proves nothing.
    """
    match judgement.result.verdict.status:
        case "PASS":
            return True
        case "FAIL":
            return False
        case "ABORTED":
            return None
    return False if set(_broken(judgement)) <= set(of_the_target) else None


def _broken(judgement: Judgement) -> list[str]:
    return [one.name for one in judgement.result.validity.checks if one.status in ("failed", "unknown")]
