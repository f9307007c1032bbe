"""CPU and memory of a process tree."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from perfq.measure.process import Window, cpu_percent_max, least_squares_slope, process_figures
from perfq.measure.samples import Process

SECOND = 1_000_000_000
TENTH = SECOND // 10


def test_the_slope_of_a_line_is_its_slope() -> None:
    assert least_squares_slope([(t, 5 + 3 * t) for t in range(10)]) == 3


@given(
    st.lists(
        st.tuples(st.integers(0, 10**13), st.integers(0, 10**12)), min_size=2, max_size=50, unique_by=lambda p: p[0]
    )
)
def test_the_line_of_least_squares_leaves_residuals_that_sum_to_nothing_in_time(points: list[tuple[int, int]]) -> None:
    slope = least_squares_slope(points)
    assert slope is not None
    n = len(points)
    x_mean, y_mean = sum(x for x, _ in points) / n, sum(y for _, y in points) / n
    moment = sum((x - x_mean) * (y - y_mean - slope * (x - x_mean)) for x, y in points)
    scale = sum(abs(x - x_mean) * (abs(y - y_mean) + abs(slope * (x - x_mean))) for x, y in points)
    assert abs(moment) <= 1e-6 * scale + 1e-6


def test_one_instant_has_no_slope() -> None:
    assert least_squares_slope([(5, 1), (5, 9)]) is None
    assert least_squares_slope([(5, 1)]) is None


def test_cpu_is_told_over_a_second_at_least() -> None:
    """Two busy tenths of a second among idle ones: 20 % of a second, and not 100 % of a tenth."""
    used, points = 0, []
    for tick in range(31):
        points.append((tick * TENTH, used))
        used += TENTH if tick in (10, 11) else 0
    assert cpu_percent_max(points) == pytest.approx(20.0)
    assert cpu_percent_max(points[:9]) is None


def samples(rss_per_tick: int, ticks: int = 200) -> list[Process]:
    return [
        Process(t=tick * TENTH, who="client", cpu_ns=tick * TENTH // 2, rss=1000 + tick * rss_per_tick)
        for tick in range(ticks)
    ]


@pytest.mark.parametrize(
    ("populated", "warm"),
    [(None, 2 * SECOND), (SECOND, 3 * SECOND), (5 * SECOND, 7 * SECOND)],
)
def test_the_warm_up_is_the_later_of_a_tenth_and_two_seconds_after_the_table(populated: int | None, warm: int) -> None:
    window = Window(begin=0, populated=populated, end=20 * SECOND)
    assert window.warm == warm


def test_the_slope_leaves_the_warm_up_out() -> None:
    """It grows fast for 5 s and not at all after."""
    grown = [Process(t=tick * TENTH, who="client", cpu_ns=0, rss=min(tick, 50) * 1_000_000) for tick in range(200)]
    figures = process_figures(grown, Window(begin=0, populated=4 * SECOND, end=20 * SECOND))
    assert figures is not None
    assert figures.rss_slope_bytes_per_min == 0
    assert figures.rss_slope_from_ns == 6 * SECOND
    assert figures.rss_slope_samples == 140
    assert figures.rss_peak_bytes == 50_000_000


def test_figures_are_of_the_time_before_the_client_was_ended() -> None:
    figures = process_figures(samples(10), Window(begin=0, populated=None, end=10 * SECOND))
    assert figures is not None
    assert figures.samples == 101
    assert figures.cpu_seconds == pytest.approx(5.0)
    assert figures.rss_slope_bytes_per_min == pytest.approx(6000)


def test_no_sample_is_no_figure() -> None:
    assert process_figures([], Window(begin=0, populated=None, end=SECOND)) is None


def test_what_was_there_before_the_run_counts_its_cpu_from_its_first_sample() -> None:
    later = samples(10)[20:]
    figures = process_figures(later, Window(begin=2 * SECOND, populated=None, end=10 * SECOND, earlier=True))
    assert figures is not None
    assert figures.cpu_seconds == pytest.approx(4.0)
