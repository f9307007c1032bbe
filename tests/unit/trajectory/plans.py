"""Plans of a few sessions, as the tests of the scheduler want them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from perfq.profile.trajectory.profile import TrajectoryProfile
from perfq.profile.trajectory.trajectory import Trajectory
from perfq.trajectory.plan import Session, SessionPlan

Steps = list[dict[str, Any]]


def plan(*sessions: Steps, offsets: list[int] | None = None, **changes: Any) -> SessionPlan:
    """A session for each list of steps; `changes` are fields of the profile."""
    arrivals = offsets or [0] * len(sessions)
    profile = {
        "schema": "perfq.trajectory-profile/v1",
        "name": "p",
        "trajectories": [{"path": "s.json"}],
        "arrivals": {"mode": "explicit", "offsets_ms": arrivals},
        **changes,
    }
    planned = [
        Session(
            n,
            Trajectory.model_validate({"schema": "perfq.trajectory/v1", "id": f"s{n}", "steps": steps}),
            Path("s.json"),
            arrivals[n],
        )
        for n, steps in enumerate(sessions)
    ]
    return SessionPlan(TrajectoryProfile.model_validate(profile), planned)


def command(script: str, id_: str = "c", **fields: Any) -> dict[str, Any]:
    """A command."""
    return {"kind": "exec", "id": id_, "script": script, **fields}


def wait(ms: int, **fields: Any) -> dict[str, Any]:
    """A wait."""
    return {"kind": "wait", "wait_ms": ms, **fields}
