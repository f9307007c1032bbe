"""`trajectory search`: the largest number of sessions at once that holds the budgets."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from perfq.drive.bisection import Bisection, Try
from perfq.drive.leaving import ended_by_signals
from perfq.drive.progress import Progress
from perfq.drive.rundir import RunDirectory
from perfq.drive.searching import Tried, held, search
from perfq.errors import UsageError
from perfq.profile.budgets import Budget, Conditions, parse_budget
from perfq.profile.trajectory.profile import Waves
from perfq.report.sessions_search import SessionsStep, sessions_search_document, sessions_search_text
from perfq.trajectory.command import TrajectoryRequest, leaving, measured, resolve
from perfq.trajectory.options import TrajectoryOptions
from perfq.trajectory.plan import Session, SessionPlan

#: What holds where no budget is given.
_DEFAULT: Final = "trajectory.timeouts.cleaned<=0"
#: Rules of validity that break because the machine is full: so many sessions do not fit on it beside the harness.
OF_THE_MACHINE: Final = frozenset(
    {
        "arrival lateness p99",
        "arrival lateness max",
        "harness CPU share",
        "CPU throttled share",
        "memory share",
        "sessions whose time is not accounted for",
        "samples missed",
        "budgets without their figure",
    }
)


@dataclass(frozen=True)
class SearchRequest:
    """The command line: which sessions, and how many of them are tried."""

    run: TrajectoryRequest
    lo: int
    hi: int
    tolerance: float
    confirmations: int


def search_request(request: SearchRequest) -> int:
    """Tries numbers until one is confirmed; writes search.json; gives the exit code."""
    if request.lo > request.hi:
        raise UsageError(f"--lo: got {request.lo}, expected at most --hi, {request.hi}")
    options, given = resolve(request.run), request.run.given
    bisection = Bisection(request.lo, request.hi, request.tolerance, request.confirmations, whole=True)
    directory = RunDirectory.create(options.out)
    progress = Progress(quiet=given["quiet"])
    steps: list[SessionsStep] = []

    def run(tried: Try) -> Tried:
        number = len(steps) + 1
        step = at_once(options, int(tried.value), directory.path / f"step-{number:02}", number)
        progress.say(f"perfq: {tried.why}: {tried.value:,} sessions at once")
        judgement = measured(step, progress, interrupted)
        came = Tried(judgement, held(judgement, OF_THE_MACHINE))
        steps.append(SessionsStep.of(int(tried.value), tried.why, step.out.name, came.held, judgement.result))
        return came

    def once(tried: Try) -> Tried:
        """A harness without room may be the moment's doing; twice it is that of so many sessions."""
        came = run(tried)
        return run(tried) if came.held is False and came.judgement.result.verdict.status == "INVALID" else came

    # The time is of all steps together.
    with ended_by_signals(progress, leaving(directory.path / "step-…"), options.limits.max_time_s) as interrupted:
        why = search(bisection, once, lambda value: f"{value:,.0f} session{'s' if value != 1 else ''}")
    document = sessions_search_document(bisection, steps, options.plan.profile.name, why)
    text = json.dumps(document, indent=1) + "\n"
    directory.write("search.json", text)
    if given["as_json"]:
        sys.stdout.write(text)
    else:
        sys.stdout.write(sessions_search_text(document))
        sys.stdout.write(f"search: {directory.path / 'search.json'}\n")
    return why[0]


def at_once(options: TrajectoryOptions, count: int, out: Path, number: int) -> TrajectoryOptions:
    """The same, with so many sessions that arrive at once and are to run at once."""
    own = options.budgets or (parse_budget(_DEFAULT),)
    return replace(
        options,
        plan=plan_at_once(options.plan, count),
        out=out,
        run_id=f"{options.run_id[:32]}-{number:02}",
        budgets=(*own, _all_at_once(count)),
    )


def plan_at_once(plan: SessionPlan, count: int) -> SessionPlan:
    """The plan's sessions, over and over, until there are so many; all arrive at the start."""
    listed = plan.sessions
    profile = plan.profile.model_copy(
        update={
            "arrivals": Waves(mode="waves", waves=1, per_wave=count, interval_ms=0),
            "admission": plan.profile.admission.model_copy(update={"max_concurrent": count}),
        }
    )
    found = [listed[n % len(listed)] for n in range(count)]
    return SessionPlan(profile, [Session(n, one.trajectory, one.path, 0) for n, one in enumerate(found)], plan.folder)


def _all_at_once(count: int) -> Budget:
    why = "unconditional in a search: a session that is held back until another one ends did not fit beside it"
    return parse_budget(f"trajectory.peak_concurrency>={count}", Conditions(rationale=why))
