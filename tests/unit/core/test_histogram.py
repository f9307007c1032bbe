"""`_core.Histogram`: what a load's latencies are merged with."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from perfq._core import Histogram, quantiles

VALUES = st.lists(st.integers(0, 2**40), max_size=300)


def of(values: list[int]) -> Histogram:
    histogram = Histogram()
    for value in values:
        histogram.record(value)
    return histogram


@given(VALUES)
def test_its_figures_are_within_a_thousandth_of_the_exact_ones(values: list[int]) -> None:
    exact, found = quantiles(values), of(values).figures()
    assert found["count"] == exact["count"]
    assert found["max"] == exact["max"]
    for name in ("p50", "p90", "p95", "p99", "p999"):
        one: int | None = found[name]
        other: int | None = exact[name]
        assert (one is None) == (other is None)
        if one is not None and other is not None:
            assert abs(one - other) * 1000 <= other


@given(VALUES, VALUES)
def test_what_is_merged_from_a_record_is_as_if_it_had_been_recorded_here(one: list[int], other: list[int]) -> None:
    merged = of(one)
    merged.merge_json(of(other).to_json().encode())
    again = of(one)
    again.merge(of(other))
    assert merged.to_json() == again.to_json() == of([*one, *other]).to_json()


def test_an_empty_one_has_no_figures() -> None:
    empty = Histogram()
    assert (empty.count, empty.sum, empty.min, empty.max, empty.quantile(1, 2)) == (0, 0, None, None, None)


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"{}",
        b"[]",
        json.dumps({"counts": {"5": 1}, "count": 2, "max": 5}).encode(),
        json.dumps({"counts": {"4000000000": 1}, "count": 1, "max": 5}).encode(),
    ],
)
def test_what_is_no_histogram_is_refused_and_changes_nothing(text: bytes) -> None:
    histogram = of([1, 2, 3])
    with pytest.raises(ValueError, match=r"."):
        histogram.merge_json(text)
    assert histogram.count == 3


def test_a_share_outside_of_0_to_1_is_refused() -> None:
    with pytest.raises(ValueError, match="no share"):
        of([1]).quantile(2, 1)
