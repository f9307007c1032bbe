"""Phases follow the profile's own schedule."""

from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st
from tests.unit.synthetic import profile

from perfq._core import Plan
from perfq.measure.phases import SECOND, Timeline


@st.composite
def workloads(draw: st.DrawFn) -> dict[str, object]:
    """Profiles of up to 20 s with up to three bursts that do not overlap."""
    seconds = draw(st.integers(1, 20))
    bursts, at = [], 0
    for _ in range(draw(st.integers(0, 3))):
        begin = at + draw(st.integers(0, 3))
        length = draw(st.integers(1, 3))
        if begin + length > seconds:
            break
        rate = draw(st.integers(1, 50))
        bursts.append({"start_second": begin, "duration_seconds": length, "events_per_second": rate})
        at = begin + length
    steady = draw(st.integers(0, 30))
    return profile(duration_seconds=seconds, bursts=bursts, steady_events_per_second=steady)


@given(workloads(), st.integers(0, 5))
def test_the_timeline_counts_the_events_that_the_plan_draws(workload: dict[str, object], extension: int) -> None:
    plan = Plan(json.dumps(workload))
    extended = plan.extended(extension) if extension else plan
    assert Timeline.of(workload, extension).events == extended.events


@given(workloads())
def test_an_event_is_in_a_burst_exactly_when_its_second_is(workload: dict[str, object]) -> None:
    timeline = Timeline.of(workload)
    in_burst = {second for burst in timeline.bursts for second in range(burst.begin // SECOND, burst.end // SECOND)}
    for line in Plan(json.dumps(workload)).emit("events").decode().splitlines():
        at = json.loads(line)["at_ns"]
        assert timeline.phase(at) == ("burst" if at // SECOND in in_burst else "steady")


def test_what_lies_outside_the_plan_is_steady() -> None:
    timeline = Timeline.of(profile())
    assert timeline.phase(-1) == timeline.phase(100 * SECOND) == "steady"
