"""Ages as kubectl prints them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from perfq.viewer.age import age

_DAY = 86_400


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (-5, "<invalid>"),
        (-1, "0s"),
        (0, "0s"),
        (119, "119s"),
        (120, "2m"),
        (125, "2m5s"),
        (599, "9m59s"),
        (600, "10m"),
        (3 * 3600 - 1, "179m"),
        (3 * 3600, "3h"),
        (3 * 3600 + 60, "3h1m"),
        (8 * 3600, "8h"),
        (48 * 3600 - 1, "47h"),
        (48 * 3600, "2d"),
        (2 * _DAY + 3600, "2d1h"),
        (8 * _DAY + 3600, "8d"),
        (333 * _DAY, "333d"),
        (2 * 365 * _DAY, "2y"),
        (2 * 365 * _DAY + 2 * _DAY, "2y2d"),
        (8 * 365 * _DAY + _DAY, "8y"),
    ],
)
def test_an_age_reads_as_kubectl_prints_it(seconds: int, text: str) -> None:
    assert age(seconds) == text


@given(st.integers(-1, 10**10))
def test_no_age_is_wider_than_its_column(seconds: int) -> None:
    assert 2 <= len(age(seconds)) <= 7
