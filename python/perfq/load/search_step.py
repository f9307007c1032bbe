"""One step of a search: what it is judged by, and whether its rate held."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Final

from perfq.drive.searching import Tried, held
from perfq.errors import UsageError
from perfq.judge.budget_rules import NEEDED
from perfq.judge.load_rules import UNFINISHED
from perfq.judge.verdict import FIGURES, Judgement
from perfq.measure.load.rates import REACHED
from perfq.measure.load.recording import LATENCIES
from perfq.profile.budgets import Budget, parse_budget

#: Rules of validity that are about the target's answers; a run that breaks another proves nothing about the rate.
OF_THE_TARGET: Final = frozenset({UNFINISHED.name, FIGURES})
#: What holds where the budgets say nothing of it: a server that turns requests away answers fast.
_ERRORS: Final = "load.error_share<=1%"


def step_budgets(asked: tuple[Budget, ...], rate: float) -> tuple[Budget, ...]:
    """Those asked for; few errors, unless they say how many; and answers come as fast as requests go."""
    errors = () if any(one.metric == "load.error_share" for one in asked) else (parse_budget(_ERRORS),)
    return (*asked, *errors, parse_budget(f"load.answered_rate>={REACHED * rate:.6f}"))


def refuse_few_samples(asked: Iterable[Budget], lo: float, seconds: int) -> None:
    """UsageError (2) where a step at `lo` has fewer requests than a percentile of all of them needs."""
    for budget in asked:
        part, _, figure = budget.path.rpartition(".")
        needed = NEEDED.get(figure, 1)
        if part.removeprefix("latency.") in LATENCIES and lo * seconds < needed:
            raise UsageError(
                f"--step: {seconds} s at {lo:g}/s are {lo * seconds:g} requests, and {budget.metric} needs {needed}: "
                f"expected at least {math.ceil(needed / lo)} s, or a higher --lo"
            )


def outcome(judgement: Judgement) -> Tried:
    """What came of a step. A run that proves nothing is tried again where that was the generator's own doing, not
    where figures are lacking."""
    result = judgement.result
    broken = {one.name for one in result.validity.checks if one.status in ("failed", "unknown")}
    if result.verdict.status != "INVALID" or not broken <= OF_THE_TARGET:
        return Tried(judgement, held(judgement, OF_THE_TARGET))
    # A target that is silent at the deadline, or that misses a budget, does not hold, whatever is then lacking.
    if UNFINISHED.name in broken or any(one.status == "missed" for one in result.budgets):
        return Tried(judgement, False)
    lacking = "; ".join(f"{one.metric}: {one.why}" for one in result.budgets if one.status == "not_measurable")
    return Tried(judgement, None, again=False, why=f"{lacking}; a longer --step has more samples")
