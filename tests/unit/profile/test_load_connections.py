"""Workers and connections: the recommended numbers, and the warnings where a load has others."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from perfq.profile.load.connections import RunnerLoad, connection_advice, recommended


@pytest.mark.parametrize(
    ("qps", "workers", "connections"),
    [
        (0, 10, 5),
        (9.9, 10, 5),
        (10, 11, 5),
        (99, 19, 5),
        (100, 20, 6),
        (1_000, 110, 15),
        (4_500, 460, 50),
        (50_000, 5_010, 50),
    ],
)
def test_the_recommended_numbers_follow_the_rate_of_the_runner(qps: float, workers: int, connections: int) -> None:
    assert recommended(qps) == (workers, connections)


def test_a_load_with_the_recommended_numbers_is_worth_no_word() -> None:
    assert connection_advice([RunnerLoad(index, 1_000, 110, 15) for index in range(10)]) == []


def test_too_many_connections_are_named_for_the_worst_runner_and_for_all() -> None:
    runners = [RunnerLoad(0, 10, 20, 40), *(RunnerLoad(index, 10, 20, 60 + index) for index in range(1, 20))]
    per_runner, in_all = connection_advice(runners)
    assert per_runner.code == "connections_per_runner"
    assert per_runner.text == "runner 19 has 79 connections"
    assert in_all.code == "connections_in_all"
    assert in_all.text == "20 runners have 1370 connections in all"


def test_a_runner_is_judged_by_its_own_rate_and_the_furthest_from_it_is_named() -> None:
    runners = [RunnerLoad(0, 100, 20, 6), RunnerLoad(1, 2_000, 20, 6), RunnerLoad(2, 300, 20, 6)]
    workers, connections = connection_advice(runners)
    assert workers.text == "runner 1 has 20 workers for 2000 requests/s"
    assert workers.advice.startswith("210 or more")
    assert connections.text == "runner 1 has 6 connections for 2000 requests/s"
    assert connections.advice.startswith("25 or more")


def test_one_is_not_several() -> None:
    workers, connections = connection_advice([RunnerLoad(0, 5, 1, 1)])
    assert (workers.text, connections.text) == (
        "runner 0 has 1 worker for 5 requests/s",
        "runner 0 has 1 connection for 5 requests/s",
    )


def test_a_closed_loop_has_no_rate_to_fall_short_of() -> None:
    assert connection_advice([RunnerLoad(0, None, 1, 1)]) == []
    assert connection_advice([]) == []


@given(
    st.lists(
        st.builds(
            RunnerLoad,
            st.integers(0, 100),
            st.floats(0, 1e5) | st.none(),
            st.integers(1, 20_000),
            st.integers(1, 2_000),
        )
    )
)
def test_each_rule_speaks_at_most_once_and_only_where_it_is_broken(runners: list[RunnerLoad]) -> None:
    codes = [advice.code for advice in connection_advice(runners)]
    assert len(set(codes)) == len(codes)
    paced = [(runner, recommended(runner.qps)) for runner in runners if runner.qps is not None]
    assert ("connections_per_runner" in codes) == any(runner.connections > 50 for runner in runners)
    assert ("connections_in_all" in codes) == (sum(runner.connections for runner in runners) > 1_000)
    assert ("few_workers" in codes) == any(runner.workers < wanted.workers for runner, wanted in paced)
    assert ("few_connections" in codes) == any(runner.connections < wanted.connections for runner, wanted in paced)
