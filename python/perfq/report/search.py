"""What a search for the highest rate came to: search.json, and the same for a terminal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final, Protocol, Self

from perfq.measure.result import Result
from perfq.measure.result.common import SeriesPoint
from perfq.measure.wording import amount, duration
from perfq.report.chart import Frame, chart
from perfq.report.plain import columns

_WIDTH: Final = 80
_ROWS: Final = 6


class Searched(Protocol):
    """What is needed of a search that has ended."""

    lo: float
    hi: float
    tolerance: float

    @property
    def found(self) -> float | None:
        """The highest rate that was confirmed."""

    @property
    def at_least(self) -> bool:
        """Whether the highest that was allowed held."""


@dataclass(frozen=True)
class SearchStep:
    """One rate that was tried; figures are null where the run has none."""

    rate: float
    why: str
    run: str
    held: bool | None
    status: str
    achieved_rate: float | None
    answered_rate: float | None
    error_share: float | None
    response_p50_ns: int | None
    response_p99_ns: int | None
    service_p99_ns: int | None

    @classmethod
    def of(cls, rate: float, why: str, run: str, held: bool | None, result: Result) -> Self:
        """From the run's result."""
        load, response, service = result.load, result.latency.get("response"), result.latency.get("service")
        return cls(
            rate=rate,
            why=why,
            run=run,
            held=held,
            status=result.verdict.status,
            achieved_rate=None if load is None else load.achieved_rate,
            answered_rate=None if load is None else load.answered_rate,
            error_share=None if load is None else load.error_share,
            response_p50_ns=None if response is None else response.p50,
            response_p99_ns=None if response is None else response.p99,
            service_p99_ns=None if service is None else service.p99,
        )


def search_document(searched: Searched, steps: Sequence[SearchStep], name: str, why: tuple[int, str]) -> dict[str, Any]:
    """perfq.load-search/v1. `why` is the exit code and a clause on how the search ended."""
    return {
        "schema": "perfq.load-search/v1",
        "input": name,
        "lo": searched.lo,
        "hi": searched.hi,
        "tolerance": searched.tolerance,
        "found": searched.found,
        "at_least": searched.at_least,
        "exit_code": why[0],
        "why": why[1],
        "highest_asked": max((step.rate for step in steps), default=None),
        "steps": [asdict(step) for step in steps],
    }


def search_text(document: Mapping[str, Any]) -> str:
    """The answer, each step, and latency against rate."""
    steps = document["steps"]
    rows: list[tuple[str, ...]] = [("rate", "why", "held", "achieved", "answered", "errors", "response p50", "p99")]
    rows += [_row(step) for step in steps]
    lines = [_answer(document), "", *columns(rows, right=(0, 3, 4, 5, 6, 7))]
    drawn = _chart(document)
    return "\n".join([*lines, *(["", *drawn] if drawn else [])]) + "\n"


def _answer(document: Mapping[str, Any]) -> str:
    found = document["found"]
    if found is None:
        return f"no rate was found: {document['why']}"
    more = " or more (--hi held)" if document["at_least"] else ""
    return f"the highest rate that held: {found:,.6g}/s{more}, {document['why']}"


def _row(step: Mapping[str, Any]) -> tuple[str, ...]:
    words = {True: "yes", False: "no", None: "?"}
    return (
        f"{step['rate']:,.6g}/s",
        step["why"],
        words[step["held"]],
        amount(step["achieved_rate"], "/s"),
        amount(step["answered_rate"], "/s"),
        amount(step["error_share"], "ratio"),
        duration(step["response_p50_ns"]),
        duration(step["response_p99_ns"]),
    )


def _chart(document: Mapping[str, Any]) -> list[str]:
    """The axis is the rate, from lo to hi; each point stands for the rates up to the next that was tried."""
    lo, span = document["lo"], max(document["hi"] - document["lo"], 1e-9)
    highest: dict[int, int] = {}
    for step in document["steps"]:
        if step["response_p99_ns"] is not None:
            at = round((step["rate"] - lo) / span * 1e9)
            highest[at] = max(step["response_p99_ns"], highest.get(at, 0))
    points = [SeriesPoint(t_ns=at, value=value) for at, value in sorted(highest.items())]
    title = f"response p99 against rate, {lo:,.6g}/s to {document['hi']:,.6g}/s"
    return chart(title, points, Frame(_WIDTH - 12, _ROWS, 1_000_000_000, duration))
