"""The backlog over time, and how bursts drain."""

from __future__ import annotations

from array import array

import pytest

from perfq.measure.backlog import Depths, drains
from perfq.measure.phases import SECOND, Burst, Timeline


def depths(*steps: tuple[float, int]) -> Depths:
    """Steps of (second, depth)."""
    return Depths(array("q", (round(t * SECOND) for t, _ in steps)), array("q", (depth for _, depth in steps)))


BURST = Timeline(steady_rate=20, seconds=20, bursts=(Burst(5 * SECOND, 6 * SECOND, 100),))


def test_the_median_is_weighted_by_time() -> None:
    """9 for a tenth of a second at a time, 1 for the rest."""
    one = depths((0, 1), (1, 9), (1.1, 1), (2, 9), (2.1, 1))
    assert one.median(0, 3 * SECOND) == 1
    assert depths((0, 1), (1, 9)).median(0, 5 * SECOND) == 9


def test_a_burst_is_drained_when_the_backlog_is_back_at_its_median_before() -> None:
    one = depths((0, 2), (5, 50), (6.5, 20), (7.25, 2), (8, 1))
    assert drains(one, BURST, 0, None) == [1.25 * SECOND]


def test_a_backlog_that_never_comes_back_has_no_drain() -> None:
    assert drains(depths((0, 2), (5, 50), (9, 3)), BURST, 0, None) == [None]


def test_a_burst_that_had_not_ended_is_left_out() -> None:
    assert drains(depths((0, 2), (5, 50)), BURST, 0, 5 * SECOND) == []


def test_a_burst_at_the_very_start_has_the_depth_of_that_instant_as_its_level() -> None:
    timeline = Timeline(steady_rate=20, seconds=20, bursts=(Burst(0, SECOND, 100),))
    assert drains(depths((0.5, 40), (1.5, 0)), timeline, 0, None) == [SECOND // 2]


def test_the_median_before_a_burst_does_not_reach_into_the_burst_before() -> None:
    bursts = (Burst(2 * SECOND, 4 * SECOND, 100), Burst(6 * SECOND, 7 * SECOND, 100))
    timeline = Timeline(steady_rate=20, seconds=20, bursts=bursts)
    one = depths((0, 0), (2, 90), (4, 1), (6, 90), (7, 5), (8, 1))
    assert drains(one, timeline, 0, None)[1] == SECOND


@pytest.mark.parametrize(("t", "depth"), [(-1, 0), (0, 3), (1, 3), (2, 7), (99, 7)])
def test_the_depth_holds_until_the_next_step(t: int, depth: int) -> None:
    assert depths((0, 3), (2, 7)).at(t * SECOND) == depth
