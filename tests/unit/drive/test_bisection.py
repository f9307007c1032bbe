"""The search for the highest value that holds."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from perfq.drive.bisection import MOST_STEPS, Bisection, Try


def searched(bisection: Bisection, holds: Callable[[float], bool]) -> list[Try]:
    """Runs it to its end; what was tried."""
    tried = []
    while (one := bisection.next()) is not None:
        tried.append(one)
        bisection.note(one, held=holds(one.value))
    return tried


@given(st.floats(200, 2_000), st.floats(0.005, 0.05))
def test_the_limit_is_found_within_the_tolerance_and_nothing_is_asked_outside(limit: float, tolerance: float) -> None:
    bisection = Bisection(100, 2_500, tolerance)
    tried = searched(bisection, lambda rate: rate <= limit)
    assert bisection.found is not None
    assert limit / (1 + tolerance) <= bisection.found <= limit
    assert all(100 <= one.value <= 2_500 for one in tried)
    assert [one.why for one in tried].count("confirm") == 3
    assert not bisection.at_least


def test_what_holds_at_hi_is_confirmed_there_and_said_to_be_at_least_that() -> None:
    bisection = Bisection(100, 1_000)
    tried = searched(bisection, lambda _: True)
    assert [one.why for one in tried] == ["lo", "hi", "confirm", "confirm", "confirm"]
    assert (bisection.found, bisection.at_least) == (1_000, True)


def test_what_does_not_hold_at_lo_is_not_searched_below_it() -> None:
    bisection = Bisection(100, 1_000)
    assert [one.why for one in searched(bisection, lambda _: False)] == ["lo"]
    assert bisection.found is None


def test_a_confirmation_that_fails_sends_the_search_below() -> None:
    answers: dict[float, int] = {}

    def holds(rate: float) -> bool:
        answers[rate] = answers.get(rate, 0) + 1
        return rate <= 500 and not (rate > 490 and answers[rate] == 2)

    bisection = Bisection(100, 1_000)
    searched(bisection, holds)
    assert bisection.found is not None
    assert 100 <= bisection.found <= 490


@given(st.lists(st.booleans(), min_size=100, max_size=100))
def test_a_target_without_a_word_of_its_own_ends_the_search_too(moods: list[bool]) -> None:
    answers = iter(moods)
    bisection = Bisection(100, 1_000)
    tried = searched(bisection, lambda _: next(answers))
    assert len(tried) <= MOST_STEPS
    assert all(100 <= one.value <= 1_000 for one in tried)


@pytest.mark.parametrize("rate", [1.0, 250.5])
def test_lo_and_hi_may_be_the_same(rate: float) -> None:
    bisection = Bisection(rate, rate)
    searched(bisection, lambda _: True)
    assert bisection.found == rate


@given(st.integers(1, 300), st.integers(0, 300), st.floats(0, 0.2))
def test_of_whole_numbers_the_limit_is_found_to_one_or_within_the_tolerance(
    lo: int, above: int, tolerance: float
) -> None:
    limit = lo + above
    bisection = Bisection(lo, 400, tolerance, whole=True)
    tried = searched(bisection, lambda value: value <= limit)
    assert all(one.value == int(one.value) for one in tried)
    assert bisection.found is not None
    assert bisection.found <= min(limit, 400)
    assert bisection.found >= min(limit, 400) / (1 + tolerance) - 1
    if tolerance == 0:
        assert bisection.found == min(limit, 400)
