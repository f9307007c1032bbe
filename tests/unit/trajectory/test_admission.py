"""Admission: first in, first out; memory and the pace of starts hold the head, and are told apart."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from perfq.trajectory.admission import Admission, Limits


def arrived(limits: Limits, sessions: int, at: int = 0) -> Admission:
    admission = Admission(limits)
    for n in range(sessions):
        admission.submit(n, at)
    return admission


def admit_all(admission: Admission, now: int, usage: int | None = None) -> list[int]:
    admitted = []
    while (one := admission.admit(now, usage)) is not None:
        admitted.append(one.n)
    return admitted


def test_without_limits_all_are_admitted_at_once_in_the_order_of_their_arrival() -> None:
    assert admit_all(arrived(Limits(), 4), 0) == [0, 1, 2, 3]


def test_the_head_waits_until_the_headroom_is_left() -> None:
    admission = arrived(Limits(budget_bytes=100, headroom_bytes=30), 1)
    assert admission.admit(1, 71) is None
    assert admission.blocked == "memory"
    assert admission.admit(2, 70) is not None


def test_a_session_that_starts_counts_with_its_reservation_until_it_is_ready() -> None:
    admission = arrived(Limits(budget_bytes=100, headroom_bytes=10, reserve_bytes=50), 3)
    assert admit_all(admission, 0, 0) == [0, 1]
    admission.started(0)
    assert admission.admit(1, 0) is not None


def test_one_that_fails_to_start_gives_back_its_slot_and_its_reservation() -> None:
    admission = arrived(Limits(max_concurrent=1), 2)
    assert admit_all(admission, 0) == [0]
    admission.ended(0)
    assert admit_all(admission, 1) == [1]


def test_no_more_run_at_once_than_may() -> None:
    admission = arrived(Limits(max_concurrent=2), 3)
    assert admit_all(admission, 0) == [0, 1]
    admission.started(0)
    assert admission.admit(1, None) is None
    admission.ended(0)
    assert admit_all(admission, 2) == [2]


def test_one_start_in_each_interval_and_the_time_of_the_next_is_known() -> None:
    admission = arrived(Limits(launch_interval_ns=10), 2)
    assert admit_all(admission, 5) == [0]
    assert admission.next_start_ns() == 15
    assert admission.admit(14, None) is None
    assert admission.blocked == "launch"
    assert admit_all(admission, 15) == [1]


def test_time_lost_to_memory_and_to_the_pace_of_starts_is_counted_apart() -> None:
    admission = arrived(Limits(budget_bytes=100, launch_interval_ns=10), 2)
    admit_all(admission, 0, 0)
    admission.admit(6, 101)
    second = admission.admit(26, 0)
    assert second is not None
    assert (second.queue_launch_ns, second.queue_memory_ns) == (6, 20)


def test_those_behind_the_head_lose_their_time_to_what_holds_the_head() -> None:
    admission = arrived(Limits(max_concurrent=1), 3)
    assert admit_all(admission, 0) == [0]
    admission.admit(40, None)
    admission.ended(0)
    assert admit_all(admission, 50) == [1]
    admission.ended(1)
    last = admission.admit(90, None)
    assert last is not None
    assert (last.n, last.queue_memory_ns, last.queue_launch_ns) == (2, 90, 0)


def test_a_budget_with_an_unknown_usage_is_an_error_and_not_a_usage_of_0() -> None:
    with pytest.raises(ValueError, match="needs a reading"):
        arrived(Limits(budget_bytes=1), 1).admit(0, None)


def test_memory_that_no_session_holds_makes_the_queue_stuck() -> None:
    admission = arrived(Limits(budget_bytes=10), 2)
    assert admission.admit(0, 11) is None
    assert admission.stuck
    assert admission.admit(1, 5) is not None
    admission.admit(2, 11)
    assert not admission.stuck


def test_a_stop_empties_the_queue_and_names_who_never_started() -> None:
    admission = arrived(Limits(max_concurrent=1), 3)
    admit_all(admission, 0)
    assert admission.withdraw() == [1, 2]
    assert admission.blocked is None


@given(
    st.lists(st.tuples(st.integers(0, 50), st.integers(0, 120), st.sampled_from("sre")), max_size=60),
    st.integers(0, 30),
    st.integers(1, 4),
)
def test_whatever_happens_order_limits_and_the_sum_of_the_two_times_hold(
    happenings: list[tuple[int, int, str]], interval: int, most: int
) -> None:
    limits = Limits(100, 20, 15, most, interval)
    admission = Admission(limits)
    now, n = 0, 0
    starts: list[int] = []
    seen: list[int] = []
    starting: list[int] = []
    for passed, usage, what in happenings:
        now += passed
        if what == "s":
            admission.submit(n, now)
            n += 1
        elif what == "r" and starting:
            admission.started(starting.pop())
        elif what == "e" and seen:
            admission.ended(seen[0])
            starting = [one for one in starting if one != seen[0]]
        while (one := admission.admit(now, usage)) is not None:
            assert 100 - usage - 15 * len(starting) >= 20
            assert one.queue_memory_ns + one.queue_launch_ns == now - one.submitted_ns
            seen.append(one.n)
            starting.append(one.n)
            starts.append(now)
            assert admission.concurrent <= most
    assert seen == sorted(seen)
    assert all(b - a >= interval for a, b in itertools.pairwise(starts))
