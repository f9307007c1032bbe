"""The part of report.md on what the target said of itself."""

from __future__ import annotations

from perfq.measure.result import Result
from perfq.measure.result.common import Figures
from perfq.measure.result.load import Load
from perfq.measure.result.load_server import Server
from perfq.measure.wording import duration, number
from perfq.report.table import code, escaped, table

#: Rows that are listed at most; result.json has all.
MAX_REQUESTS = 20


def server(result: Result) -> str:
    """The server's own figures beside the client's `service`; empty where they were not read."""
    load = result.load
    if load is None or load.server is None:
        return ""
    own = load.server
    head = ["requests", "n", "mean", "p50 up to", "p99 up to", "`service` p50", "`service` p99"]
    text = "## The server's own figures\n\n"
    text += table(head, _rows(load, own), numbers=range(1, 7))
    if len(own.requests) > MAX_REQUESTS:
        text += f"\nand {len(own.requests) - MAX_REQUESTS:,} more kinds\n"
    return f"{text}\nOf all clients; bounds of the server's buckets. {_queues(own)}\n"


def _rows(load: Load, own: Server) -> list[list[str]]:
    ours: dict[str, Figures | None] = {one.key: one.service for one in load.series}
    rows = []
    for one in own.requests[:MAX_REQUESTS]:
        service = ours.get(one.key)
        figures = [duration(one.mean_ns), duration(one.p50_ns), duration(one.p99_ns)]
        theirs = [duration(None if service is None else value) for value in _quantiles(service)]
        rows.append([code(one.key), number(one.count), *figures, *theirs])
    return rows


def _quantiles(service: Figures | None) -> tuple[int | None, int | None]:
    return (None, None) if service is None else (service.p50, service.p99)


def _queues(own: Server) -> str:
    """Queues and rejections of API priority and fairness, in a sentence."""
    waits = [f"{escaped(one.key)} {number(one.count)} ({duration(one.mean_ns)} on average)" for one in own.queue_waits]
    rejected = [f"{escaped(key)} {number(count)}" for key, count in own.rejected.items()]
    words = [f"Waited in queues: {', '.join(waits) or 'none'}", f"rejected: {', '.join(rejected) or 'none'}"]
    if own.queued:
        words.append(f"still queued: {', '.join(f'{escaped(key)} {number(n)}' for key, n in own.queued.items())}")
    return "; ".join(words) + "."
