"""A small chart for a terminal: bars of eighths, one column a slice of time, the peak of each slice."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from perfq.measure.result.common import SeriesPoint

_EIGHTHS = " ▁▂▃▄▅▆▇█"
#: From this ratio on, a logarithmic axis shows more than a linear one.
LOG_FROM = 20


@dataclass(frozen=True)
class Frame:
    """Where the chart goes: columns and rows of bars, the time it spans, how values are labelled."""

    width: int
    height: int
    end_ns: int
    label: Callable[[int], str]
    bursts: Sequence[tuple[int, int]] = ()
    #: How long a point stands for: it is drawn in every column of that time.
    span_ns: int = 0


def chart(title: str, points: Sequence[SeriesPoint], frame: Frame) -> list[str]:
    """Lines of the chart; empty where there are no points or no room."""
    peaks = _peaks(points, frame)
    known = [peak for peak in peaks if peak is not None]
    if not known or frame.width < 10:
        return []
    low, high = min(known), max(known)
    logarithmic = low > 0 and high / low >= LOG_FROM
    levels = [None if peak is None else _level(peak, low, high, frame.height, logarithmic) for peak in peaks]
    labels = [frame.label(high), frame.label(low if logarithmic else 0)]
    margin = max(len(label) for label in labels)
    lines = [f"{title}, peak of each slice{' (log axis)' if logarithmic else ''}"]
    for row in range(frame.height - 1, -1, -1):
        label = labels[0] if row == frame.height - 1 else labels[1] if row == 0 else ""
        bars = "".join(_cell(level, row) for level in levels)
        lines.append(f"{label:>{margin}} ┤{bars}".rstrip())
    lines.append(f"{'':>{margin}} └{_axis(frame)}")
    if frame.bursts:
        lines.append(f"{'':>{margin}}  ━ burst")
    return lines


def _peaks(points: Sequence[SeriesPoint], frame: Frame) -> list[int | None]:
    peaks: list[int | None] = [None] * frame.width
    for point in points:
        first = _column(point.t_ns, frame)
        for column in range(first, max(first, _column(point.t_ns + frame.span_ns - 1, frame)) + 1):
            peak = peaks[column]
            peaks[column] = point.value if peak is None else max(peak, point.value)
    return peaks


def _column(t_ns: int, frame: Frame) -> int:
    return min(max(t_ns * frame.width // max(frame.end_ns, 1), 0), frame.width - 1)


def _level(value: int, low: int, high: int, height: int, logarithmic: bool) -> int:
    """1 … 8 × height; what is there is never an empty cell."""
    if not high:
        return 1
    share = math.log(value / low) / math.log(high / low) if logarithmic else value / high
    return max(1, round(share * 8 * height))


def _cell(level: int | None, row: int) -> str:
    return " " if level is None else _EIGHTHS[min(max(level - 8 * row, 0), 8)]


def _axis(frame: Frame) -> str:
    axis = ["─"] * frame.width
    for begin, end in frame.bursts:
        first = begin * frame.width // max(frame.end_ns, 1)
        last = max(first, (end * frame.width - 1) // max(frame.end_ns, 1))
        for column in range(max(first, 0), min(last + 1, frame.width)):
            axis[column] = "━"
    return "".join(axis)
