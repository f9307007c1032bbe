"""docs/examples/trajectory and the built-in profile: each resolves, and is what its text says."""

from __future__ import annotations

from pathlib import Path

import pytest

from perfq.profile.trajectory.reading import load_profile
from perfq.trajectory.command import builtin
from perfq.trajectory.plan import SessionPlan, resolve


def planned(path: Path) -> SessionPlan:
    return resolve(load_profile(path))


@pytest.fixture
def examples(repository: Path) -> Path:
    return repository / "docs" / "examples" / "trajectory"


def test_every_example_resolves(examples: Path) -> None:
    found = sorted(examples.glob("*.yaml"))
    assert [path.stem for path in found] == ["eighty-in-five-waves", "in-bubblewrap", "what-sampling-costs"]
    for path in found:
        plan = planned(path)
        assert plan.profile.name == path.stem
        assert all(session.trajectory.source is None for session in plan.sessions)  # they need no leave


def test_eighty_sessions_arrive_in_five_waves_within_a_minute(examples: Path) -> None:
    plan = planned(examples / "eighty-in-five-waves.yaml")
    arrivals = [session.arrival_ms for session in plan.sessions]
    assert len(arrivals) == 80
    assert {at: arrivals.count(at) for at in sorted(set(arrivals))} == dict.fromkeys(range(0, 60_000, 12_000), 16)


def test_the_sessions_that_show_what_sampling_costs_are_many_and_mostly_wait(examples: Path) -> None:
    plan = planned(examples / "what-sampling-costs.yaml")
    assert len(plan.sessions) == 70
    assert all(len(session.trajectory.commands) >= 10 for session in plan.sessions)
    assert all(session.trajectory.planned_wait_ms >= 10_000 for session in plan.sessions)
    assert plan.profile.sampling.inject_read_delay_ms == 30


def test_the_built_in_profile_takes_less_than_20_s() -> None:
    plan = planned(Path(builtin()))
    longest = max(session.trajectory.planned_wait_ms for session in plan.sessions)
    assert plan.last_arrival_ms + longest < 10_000
