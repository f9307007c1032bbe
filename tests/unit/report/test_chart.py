"""The small chart: peaks by slice, an axis that fits, bursts marked."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from perfq.measure.result.common import SeriesPoint
from perfq.report.chart import Frame, chart

SECOND = 1_000_000_000


def frame(width: int = 20, height: int = 2, bursts: tuple[tuple[int, int], ...] = ()) -> Frame:
    return Frame(width=width, height=height, end_ns=10 * SECOND, label=str, bursts=bursts)


def points(*values: tuple[float, int]) -> list[SeriesPoint]:
    return [SeriesPoint(t_ns=round(t * SECOND), value=value) for t, value in values]


def test_the_highest_value_reaches_the_top_and_an_empty_slice_is_empty() -> None:
    lines = chart("latency", points((0, 80), (5, 40)), frame())
    assert lines[1] == "80 ┤█"
    assert lines[2] == " 0 ┤█         █"


def test_a_slice_shows_its_peak() -> None:
    assert chart("x", points((0, 1), (0.1, 8), (0.2, 2)), frame(height=1))[1] == "8 ┤█"


def test_a_wide_range_gets_a_logarithmic_axis_that_says_so() -> None:
    lines = chart("latency", points((0, 1), (5, 1000)), frame())
    assert "log axis" in lines[0]
    assert lines[-2].startswith("   1 ┤")


def test_bursts_are_marked_on_the_axis() -> None:
    lines = chart("latency", points((0, 1)), frame(bursts=((5 * SECOND, 6 * SECOND),)))
    axis = next(line for line in lines if "└" in line)
    assert axis.partition("└")[2] == "─" * 10 + "━" * 2 + "─" * 8


def test_nothing_is_drawn_of_nothing() -> None:
    assert chart("latency", [], frame()) == []
    assert chart("latency", points((0, 5)), frame(width=5)) == []


@given(st.lists(st.tuples(st.floats(-1, 20), st.integers(0, 10**12))), st.integers(10, 60), st.integers(1, 8))
def test_any_series_gives_lines_of_the_same_frame(values: list[tuple[float, int]], width: int, height: int) -> None:
    lines = chart("x", points(*values), frame(width, height))
    if values:
        assert len(lines) == height + 2
        assert all(len(line.partition("┤")[2]) <= width for line in lines)
