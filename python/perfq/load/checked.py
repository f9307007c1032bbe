"""The plan of a load for people: what `load check` prints, and a run before it begins."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from perfq import units
from perfq.load.planned import PlannedLoad
from perfq.measure.load.manifest import SegmentFacts

_PROTOCOLS = {"http1": "HTTP/1.1", "http2": "HTTP/2"}


def described(planned: PlannedLoad) -> Iterator[tuple[str, str]]:
    """Names and values of the whole, in lines."""
    facts = planned.facts
    yield "input", f"{facts.kind} {facts.name}"
    if facts.description:
        yield "description", " ".join(facts.description.split())
    if facts.sha256:
        yield "sha-256", facts.sha256
    if planned.seed is not None:
        yield "seed", str(planned.seed)
    if not planned.segments:
        return
    yield "requests", _count(planned.planned)
    yield "duration", _time(planned.duration_ns)
    yield "verbs", ", ".join(verb if n is None else f"{verb} {n:,}" for verb, n in planned.verbs.items()) or "none"
    yield "writes", "yes" if planned.writes else "no"
    yield "timeout", units.show_duration(planned.timeout_ms * 1_000_000)


HEADER = (
    "SEGMENT",
    "REQUESTS",
    "RATE",
    "OF EACH RUNNER",
    "DURATION",
    "RUNNERS",
    "CONNECTIONS",
    "IN FLIGHT",
    "PROTOCOL",
)


def segment_rows(planned: PlannedLoad) -> list[tuple[str, ...]]:
    """A line for each segment; rates of all runners and of each."""
    return [_row(number, one.facts) for number, one in enumerate(planned.segments)]


def _row(number: int, one: SegmentFacts) -> tuple[str, ...]:
    here = 1 if one.runner_index is not None else one.runners
    runners = str(one.runners) if one.runner_index is None else f"{one.runner_index} of {one.runners}"
    return (
        f"{number}{' (warm-up)' if one.warm_up else ''}",
        _count(one.planned),
        "closed loop" if one.closed else _rate(one.rate),
        "closed loop" if one.closed else _rate(None if one.rate is None else one.rate / here),
        _time(one.duration_ns),
        runners,
        _of_each(one.connections, here),
        _of_each(one.in_flight, here),
        _PROTOCOLS[one.protocol] + (", protobuf" if one.accept == "protobuf" else ""),
    )


def remarks(planned: PlannedLoad) -> Sequence[str]:
    """What should be known before it runs, a line each."""
    return [f"{one.text}; {one.advice}" if one.advice else one.text for one in planned.remarks]


def document(planned: PlannedLoad) -> dict[str, Any]:
    """The same for machines."""
    return {
        "schema": "perfq.load-check/v1",
        "input": planned.facts.plain(),
        "seed": planned.seed,
        "requests": planned.planned,
        "duration_ns": planned.duration_ns,
        "verbs": dict(planned.verbs),
        "writes": planned.writes,
        "timeout_ms": planned.timeout_ms,
        "segments": [one.facts.plain() for one in planned.segments],
        "remarks": [{"text": one.text, "advice": one.advice} for one in planned.remarks],
    }


def _count(number: int | None) -> str:
    return "as many as it takes" if number is None else f"{number:,}"


def _time(nanoseconds: int | None) -> str:
    return "until they are done" if nanoseconds is None else units.show_duration(nanoseconds)


def _rate(rate: float | None) -> str:
    return "-" if rate is None else f"{rate:,.6g}/s"


def _of_each(number: int, runners: int) -> str:
    return f"{number:,}" if runners == 1 else f"{runners} × {number:,}"
