"""The parts of report.md that only a request load has; each is empty where a result has none of it."""

from __future__ import annotations

from perfq.measure.load.held_back import CODE
from perfq.measure.result import Result
from perfq.measure.result.load import Load, Series, Watches
from perfq.measure.wording import amount, duration, number, size
from perfq.report.table import code, escaped, table

#: Rows that are listed at most; result.json has all.
MAX_SERIES = 20
MAX_ERRORS = 20
MAX_SAMPLES = 10


def executed(result: Result) -> str:
    """The load as it was executed, beside what was asked for, and what held it back in one sentence."""
    load = result.load
    if load is None:
        return ""
    lines = ["## Load as executed\n", rates(load)]
    lines += [f"**{_sentence(one.text)}** {_sentence(one.advice or '')}" for one in result.warnings if one.code == CODE]
    lines.append("")
    head = ["planned", "sent", "ok", "errors", "timed out", "cancelled", "not sent", "late", "retries", "received"]
    lines.append(table(head, [_counts(load)], numbers=range(10)))
    if len(load.segments) > 1:
        head = ["segment", "planned", "ok", "errors", "asked for", "achieved", "planned time", "drain", "in flight"]
        lines.append(table(head, _segments(load), numbers=range(9)))
    return "\n".join(lines) + _connections(load)


def rates(load: Load) -> str:
    """`100/s of 100/s were reached`, in words for each kind of loop."""
    if load.closed:
        return f"A closed loop: {amount(load.achieved_rate, '/s')} came of it; no rate was asked for."
    if load.achieved_rate is None:
        return f"{amount(load.requested_rate, '/s')} were asked for; what was reached is not known."
    where = " in the open loops" if any(one.closed for one in load.segments) else ""
    return f"{amount(load.achieved_rate, '/s')} achieved, {amount(load.requested_rate, '/s')} requested{where}."


def errors(result: Result) -> str:
    """Errors by class, and some of them as they came."""
    load = result.load
    if load is None or not (load.errors or load.timed_out):
        return ""
    counted = sorted(load.errors.items(), key=lambda item: -item[1])
    if load.timed_out:
        counted.append(("timed out", load.timed_out))
    rows = [[code(key), number(count)] for key, count in counted[:MAX_ERRORS]]
    text = "## Errors\n\n" + table(["error", "n"], rows, numbers=(1,)) + _more(len(counted) - MAX_ERRORS, "classes")
    if load.error_samples:
        rows = [
            [duration(one.t_ns), code(one.key), code(one.series), escaped(one.text[:200])]
            for one in load.error_samples[:MAX_SAMPLES]
        ]
        text += "\nSome of them:\n\n" + table(["after", "error", "series", "text"], rows, numbers=(0,))
    return text


def series(result: Result) -> str:
    """What was asked, the most frequent first."""
    load = result.load
    if load is None or not load.series:
        return ""
    latency = "service" if load.closed else "response"
    head = ["series", "ok", "errors", "timed out", "bytes", f"{latency} p50", "p99", "max", "service p99"]
    rows = [_series_row(one, latency) for one in load.series[:MAX_SERIES]]
    text = "## Series\n\n" + table(head, rows, numbers=range(1, 9))
    return text + _more(len(load.series) - MAX_SERIES, "series")


def _counts(load: Load) -> list[str]:
    counts = [load.planned, load.sent, load.ok, sum(load.errors.values()), load.timed_out, load.cancelled]
    return [number(count) for count in (*counts, load.not_sent, load.late, load.retries)] + [size(load.bytes)]


def _segments(load: Load) -> list[list[str]]:
    return [
        [
            str(index),
            number(one.planned),
            number(one.ok),
            number(sum(one.errors.values()) + one.timed_out),
            "closed loop" if one.closed else amount(one.requested_rate, "/s"),
            amount(one.achieved_rate, "/s"),
            duration(one.planned_ns),
            duration(one.drain_ns),
            f"{one.runners} × {one.in_flight}",
        ]
        for index, one in enumerate(load.segments)
    ]


def _connections(load: Load) -> str:
    one = load.connections
    protocols = {"http1": "HTTP/1.1", "http2": "HTTP/2"}
    used = " and ".join(sorted({protocols[each.protocol] for each in load.segments})) or "–"
    words = [f"{number(one.opened)} connections ({used})"]
    if one.handshake is not None:
        words.append(f"handshake p50 {duration(one.handshake.p50)}, max {duration(one.handshake.max)}")
    if one.stream_limit is not None:
        words.append(f"at most {number(one.stream_limit)} streams each")
    words.append(f"{number(one.reconnects)} reconnects, {number(one.goaways)} GOAWAYs, {number(one.resets)} resets")
    if load.resends:
        words.append(f"{number(load.resends)} requests sent again that the server had not taken")
    words.append(f"at most {number(load.in_flight_max)} in flight")
    if load.overload is not None:
        words.append("what found no slot waited" if load.overload == "queue" else "what found no slot was dropped")
    text = f"\n{'; '.join(words)}.\n"
    if load.priority_levels:
        levels = ", ".join(f"{escaped(name)} {number(count)}" for name, count in load.priority_levels.items())
        text += f"\nAnswers by API priority and fairness level: {levels}.\n"
    text += _watches(load.watches)
    if load.engine_cpu_seconds is not None:
        busy = "" if load.engine_cpu_share is None else f", its busiest thread {load.engine_cpu_share:.0%} of its time"
        text += f"\nThe engine used {load.engine_cpu_seconds:.3g} s of CPU{busy}.\n"
    return text


def _watches(watches: Watches) -> str:
    """What watches saw, and how long they waited for it; empty where there were none."""
    if not watches.opened:
        return ""
    text = (
        f"\n{number(watches.opened)} watches, {number(watches.ended)} ended: {number(watches.events)} events, "
        f"{size(watches.bytes)}, {number(watches.relists)} re-lists, {number(watches.reopened)} opened again.\n"
    )
    times = {
        "headers": watches.time_to_headers,
        "first event": watches.time_to_first_event,
        "initial bookmark": watches.time_to_initial_bookmark,
    }
    rows = [
        [name, number(one.count), *(duration(value) for value in (one.p50, one.p99, one.max))]
        for name, one in times.items()
        if one is not None
    ]
    head = ["of a watch, from the send", "n", "p50", "p99", "max"]
    return text + ("\n" + table(head, rows, numbers=range(1, 5)) if rows else "")


def _series_row(one: Series, latency: str) -> list[str]:
    main = one.service if latency == "service" else one.response
    times = ["–"] * 3 if main is None else [duration(value) for value in (main.p50, main.p99, main.max)]
    service = "–" if one.service is None else duration(one.service.p99)
    failed = sum(one.errors.values())
    return [code(one.key), number(one.ok), number(failed), number(one.timed_out), size(one.bytes), *times, service]


def _more(count: int, what: str) -> str:
    return f"\n… and {count} more {what} in result.json.\n" if count > 0 else ""


def _sentence(text: str) -> str:
    return f"{escaped(text[:1].upper() + text[1:])}." if text else ""
