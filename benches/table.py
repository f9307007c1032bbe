"""One row a figure: perfq, its peer, their ratio, the target, and whether it is met."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any, Literal

#: What stands in a peer's place where there is none to measure.
NOT_INSTALLED = "peer not installed"


@dataclass(frozen=True, slots=True)
class Target:
    """A limit on perfq's own figure, or on `times`: how many times better than the peer it is."""

    on: Literal["value", "times"]
    operator: Literal["<=", ">="]
    limit: float

    def met(self, value: float | None, times: float | None) -> bool | None:
        """None where what it speaks of was not measured."""
        seen = value if self.on == "value" else times
        if seen is None:
            return None
        return seen <= self.limit if self.operator == "<=" else seen >= self.limit


@dataclass(frozen=True, slots=True)
class Row:
    """A figure in its unit; `peer` is its figure in the same unit, or why there is none."""

    figure: str
    unit: str
    perfq: float | None
    peer: float | str = NOT_INSTALLED
    better: Literal["less", "more"] = "less"
    target: Target | None = None
    note: str = ""

    @property
    def times(self) -> float | None:
        """How many times better than the peer: 2 is half its time, or twice its rate."""
        if self.perfq is None or isinstance(self.peer, str) or not self.perfq or not self.peer:
            return None
        return self.peer / self.perfq if self.better == "less" else self.perfq / self.peer

    @property
    def met(self) -> bool | None:
        """Whether the target is met; None without one, or where it was not measured."""
        return self.target.met(self.perfq, self.times) if self.target else None

    def as_json(self) -> dict[str, Any]:
        """The row with what follows from it."""
        return {**asdict(self), "times": self.times, "met": self.met}


def number(value: float | None) -> str:
    """Three digits that count, without an exponent; a dash for None."""
    if value is None:
        return "–"
    if value == 0:
        return "0"
    digits = max(0, 2 - int(f"{abs(value):e}".split("e")[1]))
    return f"{value:,.{digits}f}"


def render(rows: Iterable[Row]) -> str:
    """A table in Markdown, its columns padded so that a terminal shows it as well."""
    lines = [("figure", "unit", "perfq", "peer", "ratio", "target", "")]
    for row in rows:
        peer = row.peer if isinstance(row.peer, str) else number(row.peer)
        times = "–" if row.times is None else f"{number(row.times)} ×"
        target = "–"
        if row.target:
            unit = "×" if row.target.on == "times" else ""
            target = f"{row.target.operator} {number(row.target.limit)} {unit}".strip()
        word = {True: "met", False: "SHORT", None: "" if not row.target else "not measured"}[row.met]
        note = f"{word}; {row.note}" if row.note and word else word or row.note
        lines.append((row.figure, row.unit, number(row.perfq), peer, times, target, note))
    widths = [max(len(line[column]) for line in lines) for column in range(len(lines[0]))]
    padded = [
        "| " + " | ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)) + " |" for line in lines
    ]
    padded.insert(1, "|" + "|".join("-" * (width + 2) for width in widths) + "|")
    return "\n".join(padded)
