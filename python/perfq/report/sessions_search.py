"""What a search for the largest number of sessions came to: search.json, and the same for a terminal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final, Self

from perfq.measure.result import Result
from perfq.measure.wording import duration, number, size
from perfq.report.plain import clean, columns
from perfq.report.search import Searched

SCHEMA: Final = "perfq.trajectory-search/v1"
_HELD: Final = {True: "yes", False: "no", None: "?"}


@dataclass(frozen=True)
class SessionsStep:
    """One number of sessions that was tried; figures are null where the run has none."""

    sessions: int
    why: str
    run: str
    held: bool | None
    status: str
    reasons: list[str]
    peak_concurrency: int | None
    makespan_ns: int | None
    extra_wait_mean_ns: int | None
    exec_mean_ns: int | None
    queue_memory_mean_ns: int | None
    memory_peak_bytes: int | None
    scheduler_delay_p99_ns: int | None

    @classmethod
    def of(cls, sessions: int, why: str, run: str, held: bool | None, result: Result) -> Self:
        """From the run's result."""
        block = result.trajectory
        assert block is not None
        return cls(
            sessions=sessions,
            why=why,
            run=run,
            held=held,
            status=result.verdict.status,
            reasons=list(result.verdict.reasons),
            peak_concurrency=block.peak_concurrency,
            makespan_ns=block.makespan_ns,
            extra_wait_mean_ns=block.extra_wait_ns.mean,
            exec_mean_ns=block.exec_ns_mean,
            queue_memory_mean_ns=block.queue_ns.memory,
            memory_peak_bytes=block.memory_bytes.total_peak,
            scheduler_delay_p99_ns=block.scheduler_delay_ns.p99,
        )


def sessions_search_document(
    searched: Searched, steps: Sequence[SessionsStep], profile: str, why: tuple[int, str]
) -> dict[str, Any]:
    """perfq.trajectory-search/v1. `why` is the exit code and a clause on how the search ended."""
    return {
        "schema": SCHEMA,
        "profile": profile,
        "lo": int(searched.lo),
        "hi": int(searched.hi),
        "tolerance": searched.tolerance,
        "found": None if searched.found is None else int(searched.found),
        "at_least": searched.at_least,
        "exit_code": why[0],
        "why": why[1],
        "steps": [asdict(step) for step in steps],
    }


def sessions_search_text(document: Mapping[str, Any]) -> str:
    """The answer, and each step with what held it back."""
    head = ("sessions", "why", "held", "makespan", "extra wait", "execution", "memory queue", "memory", "held back by")
    rows = [head, *(_row(step) for step in document["steps"])]
    return "\n".join([_answer(document), "", *columns(rows, right=(0, 3, 4, 5, 6, 7))]) + "\n"


def _answer(document: Mapping[str, Any]) -> str:
    found = document["found"]
    if found is None:
        return f"no number of sessions was found: {document['why']}"
    more = " or more (--hi held)" if document["at_least"] else ""
    return f"{number(found)} sessions at once fit{more}, {document['why']}"


def _row(step: Mapping[str, Any]) -> tuple[str, ...]:
    back = "" if step["held"] else clean("; ".join(step["reasons"]))
    return (
        number(step["sessions"]),
        step["why"],
        _HELD[step["held"]],
        duration(step["makespan_ns"]),
        duration(step["extra_wait_mean_ns"]),
        duration(step["exec_mean_ns"]),
        duration(step["queue_memory_mean_ns"]),
        size(step["memory_peak_bytes"]),
        back if len(back) <= _BACK else f"{back[: _BACK - 1]}…",
    )


#: Cells for what held a step back; search.json has all of it.
_BACK: Final = 80
