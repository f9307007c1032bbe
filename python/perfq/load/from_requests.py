"""A list of requests with their instants (a perfq trace, a kperf replay profile) → a planned load."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, cast

from perfq.errors import UsageError
from perfq.load.planned import PlannedLoad, PlannedSegment, Remark
from perfq.load.shape import Runners, Shape
from perfq.load.told import called
from perfq.measure.load.manifest import Accept, InputFacts, SegmentFacts
from perfq.profile.load.connections import RunnerLoad, connection_advice, recommended

if TYPE_CHECKING:
    from perfq._core import LoadInput

TIMEOUT_MS: Final = 60_000
#: So many of the things that a target must have are named.
_NAMED: Final = 10
_KINDS: Final = {"trace": "trace", "kperf-replay": "kperf replay"}


def open_requests(path: Path, name: str, options: Mapping[str, Any]) -> LoadInput:
    """Reads a file of requests to its end. UsageError (2): NAME:LINE: what is wrong."""
    from perfq import _core

    try:
        return _core.load_open(path, dict(options))
    except (OSError, ValueError) as error:
        raise UsageError(called(error, path, name)) from error


def planned_requests(at: tuple[Path, str], opened: LoadInput, shape: Shape, options: Mapping[str, Any]) -> PlannedLoad:
    """What a file (its path, and what reports call it) holds, as read by `open_requests` with these options."""
    path, name = at
    spec = opened["spec"] or {}
    runners = shape.runners_of(spec.get("runnerCount"))
    share = _share(path, opened, runners, options)
    seconds = opened["span_us"] / 1e6
    qps = share / seconds / runners.here if seconds else float(share)
    wanted = recommended(qps)
    facts = SegmentFacts(
        runners=runners.count,
        runner_index=runners.index,
        connections=shape.connections or spec.get("connsPerRunner") or wanted.connections,
        in_flight=shape.in_flight or spec.get("clientsPerRunner") or wanted.workers,
        protocol=shape.protocol or ("http1" if spec.get("disableHTTP2") else "http2"),
        accept=shape.accept or cast("Accept", spec.get("contentType") or "json"),
        rate=share / seconds if seconds else None,
        planned=share,
        duration_ns=opened["span_us"] * 1_000,
    )
    each = [RunnerLoad(index, qps, facts.in_flight, facts.connections) for index in range(runners.here)]
    remarks = [*_remarks(name, opened), *(Remark(one.text, one.advice) for one in connection_advice(each))]
    return PlannedLoad(
        facts=InputFacts(
            kind=cast("Any", _KINDS[opened["format"]]),
            name=name,
            bytes=path.stat().st_size,
            sha256=opened["digest"],
            description=opened["description"],
        ),
        segments=[PlannedSegment(_options(path, facts, options), facts)],
        reading=dict(options),
        timeout_ms=TIMEOUT_MS,
        verbs=opened["counts"]["verbs"],
        remarks=remarks,
        needs=opened["needs"],
        replay=path if opened["format"] == "kperf-replay" else None,
        # Watches without a length live as long as the run, which then has no end of its own.
        endless=opened["counts"]["requests"] == opened["counts"]["endless_watches"] > 0,
    )


def _share(path: Path, opened: LoadInput, runners: Runners, options: Mapping[str, Any]) -> int:
    """The requests of the runners here."""
    from perfq import _core

    if runners.index is None:
        return opened["planned"]
    shares = _core.load_plan(path, runners.count, dict(options), 0)
    return shares["runners"][runners.index]["requests"]


def _options(path: Path, facts: SegmentFacts, options: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "source": {"trace": {"path": str(path), **options}},
        "runners": facts.runners,
        "runner_index": facts.runner_index,
        "connections": facts.connections,
        "in_flight": facts.in_flight,
        "protocol": facts.protocol,
        "accept": facts.accept,
        "max_retries": 0,
        "duration_us": None,
        "rate": None,
    }


def _remarks(name: str, opened: LoadInput) -> Iterator[Remark]:
    for one in opened["warnings"]:
        line = "" if one["line"] is None else f":{one['line']}"
        times = "" if one["count"] == 1 else f" ({one['count']:,} times)"
        yield Remark(f"{name}{line}: {one['text']}{times}")
    needs = opened["needs"]
    accounts = [f"{one['namespace']}/{one['name']}" for one in needs["service_accounts"]]
    resources = [f"{one['resource']}.{one['group']}/{one['version']}" for one in needs["custom_resources"]]
    for what, found in (("namespaces", needs["namespaces"]), ("service accounts", accounts), ("resources", resources)):
        if found:
            more = f" and {len(found) - _NAMED:,} more" if len(found) > _NAMED else ""
            yield Remark(f"{name}: the target has to have the {what} {', '.join(found[:_NAMED])}{more}")
    for loss in opened["losses"]:
        yield Remark(f"{loss['loss']}: {loss['count']:,} {loss['text']}")
