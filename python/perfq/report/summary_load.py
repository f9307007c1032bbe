"""The parts of a terminal summary that only a request load has."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from perfq.measure.load.held_back import CODE, FAILURES
from perfq.measure.load.server import NOT_ASKED
from perfq.measure.result import Result
from perfq.measure.result.load import Load
from perfq.measure.result.load_server import Server
from perfq.measure.wording import duration, number, size
from perfq.report.chart import Frame, chart
from perfq.report.markdown_load import rates
from perfq.report.plain import clean, wrapped

#: Errors that are named; the others are summed.
_NAMED = 4
#: Kinds of requests of which the server's own figures are told.
_KINDS = 2
_ROWS = 5
_SECOND = 1_000_000_000


def remarks(result: Result, width: int) -> Iterator[str]:
    """What held the load back, and failures that nothing judges: a sentence each, and what to do about it."""
    for one in result.warnings:
        if one.code in (CODE, FAILURES):
            yield from wrapped(clean(f"{one.text}; {one.advice}"), width, indent="  ")


def load_rows(load: Load) -> list[Sequence[str]]:
    """Counts, errors, connections."""
    rows: list[Sequence[str]] = [
        ["load", f"{number(load.ok)} ok of {number(load.planned)} planned. {rates(load)}"],
        ["errors", _errors(load)],
        [
            "unsent",
            f"{number(load.not_sent)} not sent, {number(load.cancelled)} cancelled; {number(load.late)} late "
            f"(lag above 10 ms), {number(load.retries)} retries",
        ],
    ]
    one = load.connections
    text = f"{number(one.opened)} opened, {number(one.reconnects)} reconnects, {number(one.goaways)} GOAWAYs, "
    text += f"{number(one.resets)} resets"
    rows.append(["connections", f"{text}; at most {number(load.in_flight_max)} in flight"])
    if load.watches.opened:
        watches = load.watches
        rows.append(
            ["watches", f"{number(watches.opened)} opened, {number(watches.events)} events, {size(watches.bytes)}"]
        )
    if load.engine_cpu_seconds is not None:
        busy = "" if load.engine_cpu_share is None else f", busiest thread {load.engine_cpu_share:.0%}"
        rows.append(["engine", f"CPU {load.engine_cpu_seconds:.3g} s{busy}"])
    return rows


def server_rows(result: Result) -> Iterator[Sequence[str]]:
    """What the target said of itself, or why it did not; nothing where it was not asked."""
    if result.load is not None and result.load.server is not None:
        own = result.load.server
        yield ["server", _own_requests(own)]
        yield ["its queues", _own_queues(own)]
        return
    why = (one.text for one in result.warnings if one.field == "/load/server" and one.text != NOT_ASKED)
    yield from (["server", f"not known: {clean(text)}"] for text in why)


def _own_requests(own: Server) -> str:
    words = [f"{number(sum(one.count for one in own.requests))} requests of all clients"]
    for one in own.requests[:_KINDS]:
        bound = "" if one.p99_ns is None else f", p99 up to {duration(one.p99_ns)}"
        words.append(f"{clean(one.key)} {number(one.count)}, mean {duration(one.mean_ns)}{bound}")
    if len(own.requests) > _KINDS:
        words.append(f"{number(len(own.requests) - _KINDS)} more kinds in the report")
    return "; ".join(words)


def _own_queues(own: Server) -> str:
    waited = [f"{clean(one.key)} {number(one.count)} (mean {duration(one.mean_ns)})" for one in own.queue_waits]
    words = [f"waited: {_few(waited)}", f"rejected: {_few(_counts(own.rejected))}"]
    if own.queued:
        words.append(f"still queued: {_few(_counts(own.queued))}")
    return "; ".join(words)


def _counts(of: Mapping[str, int]) -> list[str]:
    return [f"{clean(key)} {number(count)}" for key, count in of.items()]


def _few(words: Sequence[str]) -> str:
    more = [f"{number(len(words) - _NAMED)} more"] if len(words) > _NAMED else []
    return ", ".join([*words[:_NAMED], *more]) or "none"


def charts(load: Load, width: int) -> list[str]:
    """Latency over time, and below it errors over time where there were any."""
    lines: list[str] = []
    name = "service" if load.closed else "response"
    drawn = (("latency_p99", f"{name} p99", duration), ("errors", "errors a second", number))
    wall = sum(one.wall_ns or 0 for one in load.segments)
    for key, title, label in drawn:
        points = load.timeline.get(key)
        if points:
            end = max(points[-1].t_ns + _SECOND, wall)
            frame = Frame(min(width - 12, 100), _ROWS, end, label, span_ns=_SECOND)
            lines += chart(f"{title} over {duration(end)}", points, frame)
    return lines


def _errors(load: Load) -> str:
    counted = sorted(load.errors.items(), key=lambda item: -item[1])
    named = [f"{clean(key)} {number(count)}" for key, count in counted[:_NAMED]]
    if len(counted) > _NAMED:
        named.append(f"{len(counted) - _NAMED} others {number(sum(count for _, count in counted[_NAMED:]))}")
    if load.timed_out:
        named.append(f"timed out {number(load.timed_out)}")
    return ", ".join(named) or "none"
