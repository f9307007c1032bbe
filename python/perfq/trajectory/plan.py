"""A profile and its sessions → a resolved plan: who arrives when, and does what. No clock, and no machine's own."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Final

from perfq.profile.document import Problem, refuse
from perfq.profile.shown import show_text
from perfq.profile.trajectory.files import SessionFile, folder_of, sessions_of
from perfq.profile.trajectory.profile import Explicit, TrajectoryProfile
from perfq.profile.trajectory.reading import LoadedProfile
from perfq.profile.trajectory.trajectory import ExecStep, Trajectory, WaitStep
from perfq.trajectory.arrivals import expected, offsets_ms

SCHEMA: Final = "perfq.trajectory-plan/v1"


@dataclass(frozen=True)
class Session:
    """One planned session. `n` counts from 0 in the order in which the sessions are listed."""

    n: int
    trajectory: Trajectory
    #: The file that it came from; no part of the plan's text.
    path: Path
    #: When it is meant to arrive, ms from the start of the run.
    arrival_ms: int

    @property
    def id(self) -> str:
        """The name that the recording gives it; several sessions may be replays of the same one."""
        return self.trajectory.id

    @property
    def steps(self) -> Sequence[ExecStep | WaitStep]:
        """Commands and waits, in their order."""
        return self.trajectory.steps


@dataclass(frozen=True)
class SessionPlan:
    """A profile, resolved."""

    profile: TrajectoryProfile
    sessions: Sequence[Session]
    #: Where its paths count from; no part of the plan's text.
    folder: Path = Path()

    @property
    def commands(self) -> int:
        """Of all sessions."""
        return sum(len(session.trajectory.commands) for session in self.sessions)

    @property
    def planned_wait_ms(self) -> int:
        """Of all sessions."""
        return sum(session.trajectory.planned_wait_ms for session in self.sessions)

    @property
    def last_arrival_ms(self) -> int:
        """When the last session is meant to arrive."""
        return max(session.arrival_ms for session in self.sessions)

    @cached_property
    def sha256(self) -> str:
        """Of plan.json."""
        return hashlib.sha256(self.document().encode()).hexdigest()

    def document(self) -> str:
        """plan.json: the same bytes for the same profile and sessions; no run id, no path, no instant."""
        hashes: dict[int, str] = {}
        for session in self.sessions:
            hashes.setdefault(id(session.trajectory), session.trajectory.sha256)
        profile = self.profile.model_dump(mode="json", by_alias=True)
        del profile["trajectories"]  # files by name; what they hold is below
        plan = {
            "schema": SCHEMA,
            "profile": profile,
            "sessions": [_line(session, hashes[id(session.trajectory)]) for session in self.sessions],
        }
        return json.dumps(plan, indent=1, sort_keys=True, ensure_ascii=False) + "\n"


def _line(session: Session, sha256: str) -> dict[str, Any]:
    return {
        "n": session.n,
        "id": session.id,
        "sha256": sha256,
        "arrival_ms": session.arrival_ms,
        "commands": len(session.trajectory.commands),
        "planned_wait_ms": session.trajectory.planned_wait_ms,
    }


def resolve(loaded: LoadedProfile, base: Path | None = None) -> SessionPlan:
    """Reads the sessions that the profile names and gives each its arrival.

    `base` is where their paths count from; the profile's own folder where it is None. UsageError (2) with every
    error of the sessions, and of how they fit the profile, one a line.
    """
    files = sessions_of(loaded, base)
    problems = [*_arrival_problems(loaded, len(files)), *_offload_problems(loaded, files)]
    if problems:
        raise refuse(loaded.positions.name, problems)
    profile = loaded.profile
    arrivals = offsets_ms(profile.arrivals, profile.seed, len(files))
    sessions = [
        Session(n, file.trajectory, file.path, arrival)
        for n, (file, arrival) in enumerate(zip(files, arrivals, strict=True))
    ]
    return SessionPlan(profile, sessions, folder_of(loaded) if base is None else base)


def _arrival_problems(loaded: LoadedProfile, sessions: int) -> list[Problem]:
    arrivals = loaded.profile.arrivals
    wanted = expected(arrivals)
    if wanted is None or wanted == sessions:
        return []
    explicit = isinstance(arrivals, Explicit)
    path = ("arrivals", "offsets_ms") if explicit else ("arrivals",)
    got = f"{wanted} offset{'s' if wanted != 1 else ''}" if explicit else f"arrivals of {wanted}"
    hint = "; trajectories.N.repeat replays sessions more than once" if wanted > sessions else ""
    return [loaded.positions.problem(path, got, f"those of {sessions}, one for each session{hint}")]


def _offload_problems(loaded: LoadedProfile, files: Sequence[SessionFile]) -> list[Problem]:
    """An offload is only done in a run that is set up, and scanned, for it; a pause needs a way to pause."""
    mode, backend = loaded.profile.wait.mode, loaded.profile.backend
    problems: dict[Path, Problem] = {}
    for file in files:
        for index, step in enumerate(file.trajectory.steps):
            if not isinstance(step, WaitStep) or step.pause in (None, "idle", mode) or file.path in problems:
                continue
            if step.pause == "offload":
                expectation = f"idle or freeze, as wait.mode is {mode} and not offload"
            elif backend.kind == "command" and backend.pause_argv is None:
                expectation = "idle, as the backend has no pause_argv"
            else:
                continue
            path = ("steps", index, "pause")
            problems[file.path] = Problem(show_text(str(file.path)), path, f'"{step.pause}"', expectation)
    return list(problems.values())
