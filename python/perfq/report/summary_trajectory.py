"""The parts of a terminal summary that only replayed sessions have."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from perfq.measure.result.common import SeriesPoint
from perfq.measure.wording import UNKNOWN, duration, number
from perfq.report.chart import Frame, chart
from perfq.report.plain import clean
from perfq.report.sessions_table import session_rows

if TYPE_CHECKING:
    from perfq.measure.result.trajectory import Trajectory

_ROWS = 4
#: Of sessions that failed, those that are told of; report.md has more.
_TOLD = 3


def trajectory_rows(one: Trajectory) -> list[Sequence[str]]:
    """Every row of the table that says something."""
    return [[name, text] for name, text in session_rows(one) if text != UNKNOWN]


def troubles(one: Trajectory) -> Iterator[str]:
    """The first sessions that failed, and audits that did not pass, each with what was seen."""
    for failure in one.failures[:_TOLD]:
        yield clean(f"session {failure.n} ({failure.id}) failed: {failure.why}")
    if one.sessions.failed > _TOLD:
        yield f"… and {number(one.sessions.failed - _TOLD)} more sessions"
    for audit in one.audits.by_name:
        if audit.failed or audit.unknown:
            yield clean(f"audit {audit.name}: {'; '.join(audit.evidence)}")


def sessions_chart(one: Trajectory, width: int) -> list[str]:
    """Sessions at once over time, and how many waited where any did."""
    return [line for name in ("running", "queued") for line in _chart(one, name, width)]


def _chart(one: Trajectory, name: str, width: int) -> Iterator[str]:
    columns = min(width - 12, 100)
    changes = [SeriesPoint(t_ns=point.t_ns, value=getattr(point, name)) for point in one.timeline]
    if len(changes) < 2 or not any(point.value for point in changes):
        return
    end = max(changes[-1].t_ns, 1)
    points = [point for point in [*changes, *_held(changes, end, columns)] if point.value]
    yield from chart(f"sessions {name} over {duration(end)}", points, Frame(columns, _ROWS, end, number))


def _held(changes: Sequence[SeriesPoint], end_ns: int, columns: int) -> Iterator[SeriesPoint]:
    """Each value stays until the next change: what it is at the beginning of every column."""
    at = -1
    for column in range(columns):
        t_ns = -(-column * end_ns // columns)
        while at + 1 < len(changes) and changes[at + 1].t_ns <= t_ns:
            at += 1
        if at >= 0:
            yield SeriesPoint(t_ns=t_ns, value=changes[at].value)
