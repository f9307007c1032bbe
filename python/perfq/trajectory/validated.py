"""What validating a document says of it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from perfq import units
from perfq.errors import UsageError
from perfq.profile.override import Override
from perfq.profile.shown import show_text
from perfq.profile.source import STDIN, read_source
from perfq.profile.trajectory.reading import LARGEST_SESSION, is_profile, load_profile, load_sessions
from perfq.profile.trajectory.trajectory import Trajectory
from perfq.trajectory.plan import SessionPlan, resolve


@dataclass(frozen=True)
class Checked:
    """A sound document: either of these two."""

    name: str
    plan: SessionPlan | None
    sessions: Sequence[Trajectory] = ()


def check(argument: str, assignments: Sequence[Override] = (), seed: int | None = None) -> Checked:
    """A path, or - for standard input. UsageError (2) with every error of it, one a line."""
    source = read_source(argument, LARGEST_SESSION)
    overrides = [*assignments, *([] if seed is None else [Override(("seed",), seed, "--seed")])]
    if is_profile(source):
        base = Path.cwd() if source.name == STDIN else Path(argument).parent
        return Checked(source.name, resolve(load_profile(source, overrides), base))
    return Checked(source.name, None, load_sessions(source))


def described(checked: Checked) -> Iterator[str]:
    """In lines for people."""
    name = show_text(checked.name)
    if checked.plan is None:
        for session in checked.sessions:
            yield f"{name}: valid, session {json.dumps(session.id)} with {_counts([session])}"
        return
    plan = checked.plan
    sessions = [one.trajectory for one in plan.sessions]
    yield f"{name}: valid, profile {json.dumps(plan.profile.name)}"
    yield f"  sessions    {len(sessions):,}, with {_counts(sessions)}"
    arrivals = f"{plan.profile.arrivals.mode}, the last after {_time(plan.last_arrival_ms)}"
    yield f"  arrivals    {arrivals}"
    yield f"  backend     {plan.profile.backend.kind}, waits {plan.profile.wait.mode}"
    yield f"  sampling    {plan.profile.sampling.mode}"
    yield f"  plan        {plan.sha256}"


def document(checked: Checked) -> dict[str, Any]:
    """A profile's plan, with its hash. UsageError (2) for a session, which has none."""
    if checked.plan is None:
        raise UsageError(f"{checked.name}: got a session, expected a profile for --json")
    return {"sha256": checked.plan.sha256, **json.loads(checked.plan.document())}


def _counts(sessions: Sequence[Trajectory]) -> str:
    commands = sum(len(session.commands) for session in sessions)
    waits = sum(session.planned_wait_ms for session in sessions)
    return f"{commands:,} command{'s' if commands != 1 else ''} and {_time(waits)} of waits"


def _time(ms: int) -> str:
    return units.show_duration(ms * 1_000_000)
