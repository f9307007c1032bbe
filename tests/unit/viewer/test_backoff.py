"""How long the viewer waits before it asks again."""

from __future__ import annotations

import random

from hypothesis import given
from hypothesis import strategies as st

from perfq.viewer.backoff import FORBIDDEN_SECONDS, Backoff

seeds = st.integers(0, 2**32)


@given(seeds)
def test_failures_in_a_row_give_at_most_six_requests_in_any_thirty_seconds(seed: int) -> None:
    backoff = Backoff(random.Random(seed))
    at = [0.0]
    for _ in range(12):
        at.append(at[-1] + backoff.after_failure(1.0))
    for start in at:
        assert sum(start <= one < start + 30 for one in at) <= 6


@given(seeds, st.floats(0, 600), st.integers(0, 20))
def test_a_retry_after_is_never_undercut(seed: int, retry_after: float, failures: int) -> None:
    backoff = Backoff(random.Random(seed))
    for _ in range(failures):
        backoff.after_failure()
    assert backoff.after_failure(retry_after) >= retry_after
    assert backoff.after_forbidden(retry_after) >= max(FORBIDDEN_SECONDS, retry_after)


@given(seeds, st.integers(0, 100))
def test_no_wait_is_longer_than_the_bound_and_its_jitter(seed: int, failures: int) -> None:
    backoff = Backoff(random.Random(seed))
    waits = [backoff.after_failure() for _ in range(failures + 1)]
    assert max(waits) <= 30 * 1.25


@given(seeds)
def test_the_first_expiry_is_followed_by_a_list_at_once_and_the_next_ones_are_not(seed: int) -> None:
    backoff = Backoff(random.Random(seed))
    assert backoff.after_gone() == 0
    assert backoff.after_gone() >= 1
    backoff.succeeded()
    assert backoff.after_gone() == 0
