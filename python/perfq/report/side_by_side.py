"""Replayed sessions of several runs side by side: the same table, with what differs and why it may not be compared."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

from perfq.measure.result.trajectory import Trajectory
from perfq.measure.wording import UNKNOWN, duration, number
from perfq.report.plain import clean, columns, wrapped
from perfq.report.sessions_table import session_rows
from perfq.report.sides import Side, differences, why_not
from perfq.report.table import escaped, table

#: Figures whose spread is told where a side has several runs.
_SPREADS: Final[tuple[tuple[str, Callable[[Trajectory], int | None]], ...]] = (
    ("makespan", lambda one: one.makespan_ns),
    ("extra wait a session, mean", lambda one: one.extra_wait_ns.mean),
    ("extra wait a session, worst", lambda one: one.extra_wait_ns.max),
    ("execution a session, mean", lambda one: one.exec_ns_mean),
    ("scheduler delay p99", lambda one: one.scheduler_delay_ns.p99),
)


def side_by_side(sides: Sequence[Side], width: int = 100) -> str:
    """For a terminal."""
    lines = [*columns([[clean(cell) for cell in row] for row in _rows(sides)])]
    spreads = list(_spreads(sides))
    if spreads:
        lines += ["", "from the least to the most:", *columns([["", *(clean(side.name) for side in sides)], *spreads])]
    for title, sentences in _remarks(sides):
        lines += ["", title]
        for sentence in sentences:
            lines += wrapped(clean(sentence), width, indent="  ")
    return "\n".join(lines) + "\n"


def side_by_side_markdown(sides: Sequence[Side]) -> str:
    """The same as Markdown."""
    head, *rows = _rows(sides)
    parts = [table([escaped(cell) for cell in head], [[escaped(cell) for cell in row] for row in rows])]
    spreads = list(_spreads(sides))
    if spreads:
        named = ["from the least to the most", *(escaped(side.name) for side in sides)]
        parts.append(table(named, [[escaped(cell) for cell in row] for row in spreads]))
    for title, sentences in _remarks(sides):
        parts.append(f"{title}\n\n" + "\n".join(f"- {escaped(sentence)}" for sentence in sentences) + "\n")
    return "\n".join(parts)


def side_by_side_document(sides: Sequence[Side]) -> dict[str, Any]:
    """The same as plain JSON: of each side its runs and the medians of its figures."""
    return {
        "schema": "perfq.trajectory-sides/v1",
        "sides": [
            {
                "name": side.name,
                "runs": [{"run_id": one.run_id, "status": one.verdict.status} for one in side.results],
                "conditions": side.facts.plain(),
                "median": side.median.plain(),
            }
            for side in sides
        ],
        "differences": differences(sides),
        "not_comparable": why_not(sides),
    }


def _rows(sides: Sequence[Side]) -> Iterator[list[str]]:
    """A head, then each figure that any of the sides has."""
    yield ["", *(side.name for side in sides)]
    if any(len(side.results) > 1 for side in sides):
        yield ["runs (figures are medians)", *(number(len(side.results)) for side in sides)]
    yield ["verdicts", *(", ".join(dict.fromkeys(one.verdict.status for one in side.results)) for side in sides)]
    for cells in zip(*(session_rows(side.median) for side in sides), strict=True):
        if any(text != UNKNOWN for _, text in cells):
            yield [cells[0][0], *(text for _, text in cells)]


def _spreads(sides: Sequence[Side]) -> Iterator[list[str]]:
    if all(len(side.results) == 1 for side in sides):
        return
    for name, of in _SPREADS:
        known = [[value for block in side.blocks if (value := of(block)) is not None] for side in sides]
        if any(known):
            yield [name, *(f"{duration(min(each))} … {duration(max(each))}" if each else UNKNOWN for each in known)]


def _remarks(sides: Sequence[Side]) -> Iterator[tuple[str, Sequence[str]]]:
    differ, reasons = differences(sides), why_not(sides)
    if differ:
        yield "They differ in:", differ
    if reasons:
        yield "They may not be compared:", reasons
    else:
        yield "They may be compared:", ["the same work and timeouts on the same machine, several valid runs each"]
