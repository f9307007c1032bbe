"""The summary for a terminal: verdict, budgets, figures with their n, a chart. Colour only where asked."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, TextIO

from perfq.measure.definitions import FELT
from perfq.measure.result import Result
from perfq.measure.result.common import BudgetResult
from perfq.measure.wording import amount, budget_limit, budget_name, budget_seen, duration, number, size, yes
from perfq.report.chart import Frame, chart
from perfq.report.plain import clean, columns, wrapped
from perfq.report.summary_load import charts, load_rows, remarks, server_rows
from perfq.report.summary_trajectory import sessions_chart, trajectory_rows, troubles

if TYPE_CHECKING:
    from perfq.measure.result.replay import Updates

_COLORS: Final = {"PASS": "32", "FAIL": "31", "INVALID": "33", "ABORTED": "33"}
#: The first of these that a run has is drawn.
_CHARTED: Final = ("event_to_render", "event_to_screen", "event_to_written", "input")
_CHART_ROWS: Final = 5


@dataclass(frozen=True)
class Style:
    """Width in cells, and whether colours may be used."""

    width: int = 80
    color: bool = False

    def paint(self, text: str, code: str) -> str:
        """The text in a colour, where colours may be used."""
        return f"\x1b[{code}m{text}\x1b[0m" if self.color else text


PLAIN: Final = Style()


def style_of(stream: TextIO) -> Style:
    """What a stream can show: its terminal's width, colours unless NO_COLOR is set; plain for a file."""
    if not stream.isatty():
        return Style(width=100)
    return Style(width=shutil.get_terminal_size().columns, color=not os.environ.get("NO_COLOR"))


def summary(result: Result, style: Style = PLAIN) -> str:
    """A screenful."""
    blocks = [
        _verdict(result, style),
        _budgets(result, style),
        _latency(result),
        _rest(result),
        _chart(result, style),
    ]
    return "\n".join("\n".join(block) + "\n" for block in (list(lines) for lines in blocks) if block)


def _verdict(result: Result, style: Style) -> Iterator[str]:
    status = result.verdict.status
    client = result.manifest.client
    by = "" if client is None else f" with {client.name}"
    line = f"{result.kind} of {result.manifest.profile_id or 'a plan'}{by} ({result.run_id})"
    yield f"{style.paint(status, '1;' + _COLORS[status])}  {clean(line)}"
    for reason in result.verdict.reasons:
        yield from wrapped(clean(reason), style.width, indent="  ")
    yield from remarks(result, style.width)
    for trouble in () if result.trajectory is None else troubles(result.trajectory):
        yield from wrapped(trouble, style.width, indent="  ")
    if result.cleanup.left:
        remove = f"; to remove it: {result.cleanup.command}" if result.cleanup.command else ""
        yield from wrapped(clean(f"left behind: {', '.join(result.cleanup.left)}{remove}"), style.width, indent="  ")


def _budgets(result: Result, style: Style) -> Iterator[str]:
    """Counts, and every budget that was missed or could not be measured."""
    if not result.budgets:
        return
    counts = {
        name: sum(one.status == name for one in result.budgets)
        for name in ("met", "missed", "not_measurable", "not_applicable")
    }
    yield "budgets: " + ", ".join(f"{count} {name.replace('_', ' ')}" for name, count in counts.items() if count)
    wanting = [one for one in result.budgets if one.status in ("missed", "not_measurable")]
    rows = [[one.status.replace("_", " "), budget_name(one), budget_limit(one), _observed(one)] for one in wanting]
    for line in columns(rows):
        yield style.paint(f"  {line}", "31")


def _observed(budget: BudgetResult) -> str:
    count = "" if budget.observed is None or budget.n is None else f" (n {budget.n})"
    return clean(budget_seen(budget)) + count


def _latency(result: Result) -> Iterator[str]:
    """Those that a person feels come first, and say what they are."""
    rows: list[Sequence[str]] = [["latency", "n", "p50", "p95", "p99", "max", ""]]
    for name in sorted(result.latency, key=lambda name: name not in FELT):
        one = result.latency[name]
        if one is not None:
            times = (one.p50, one.p95, one.p99, one.max)
            word = f"felt: {FELT[name]}" if name in FELT else ""
            rows.append([name, number(one.count), *(duration(t) for t in times), word])
    if len(rows) > 1:
        yield from columns(rows, right=range(1, 6))


def _rest(result: Result) -> Iterator[str]:
    rows: list[Sequence[str]] = []
    if result.replay is not None:
        rows += _replay_rows(result)
    if result.load is not None:
        rows += [*load_rows(result.load), *server_rows(result)]
    if result.trajectory is not None:
        rows += trajectory_rows(result.trajectory)
    for name, process in (("client", result.process.client), ("harness", result.process.harness)):
        if process is not None:
            cpu = "–" if process.cpu_seconds is None else f"{process.cpu_seconds:.3g} s"
            rows.append([name, f"CPU {cpu}, peak RSS {size(process.rss_peak_bytes)} (n {number(process.samples)})"])
    if result.api is not None:
        api = result.api
        rows.append(
            [
                "api",
                f"{number(sum(op.count for op in api.operations.values()))} requests, "
                f"{size(api.decoded_bytes)}, {number(api.relists)} re-lists, {number(api.reconnects)} reconnects, "
                f"{number(api.throttles)} throttles, {number(api.unexpected_gets)} unexpected GETs",
            ]
        )
    yield from columns(rows)


def _replay_rows(result: Result) -> list[Sequence[str]]:
    replay = result.replay
    assert replay is not None
    churn, updates, start = replay.churn, replay.updates, replay.start
    extended = f", extended by {replay.extended_seconds} s" if replay.extended_seconds else ""
    rows: list[Sequence[str]] = [
        [
            "load",
            f"{number(churn.committed)} of {number(churn.planned)} events, {amount(churn.achieved_rate, '/s')} "
            f"of {amount(churn.requested_rate, '/s')}{extended}",
        ],
        ["updates", _updates(updates)],
        [
            "start",
            f"interactive {duration(start.interactive_ns)}, LIST to table {duration(start.list_to_populated_ns)}, "
            f"populated screen {duration(start.populated_screen_ns)}",
        ],
        ["digests", f"match: {yes(replay.digests.match)}"],
    ]
    if replay.probes.planned:
        one = replay.probes
        text = f"{one.planned} planned, {one.seen} seen, {one.superseded} superseded, {one.lost} lost"
        rows.append(["probes", text + (f", {one.unsent} not sent" if one.unsent else "")])
    for kind, failure in replay.failures_injected.items():
        why = "" if failure.why is None else f" ({clean(failure.why)})"
        rows.append([kind, f"exercised {failure.exercised}, shown: {yes(failure.shown)}{why}"])
    if replay.scenarios:
        failed = [clean(one.name) for one in replay.scenarios if not one.ok]
        names = f" ({', '.join(failed)})" if failed else ""
        rows.append(["scenarios", f"{len(replay.scenarios)} run, {len(failed)} failed{names}"])
    return rows


def _updates(updates: Updates) -> str:
    if updates.rendered is None:
        return f"delivered {number(updates.delivered)}; what the client made of them is not known"
    return (
        f"delivered {number(updates.delivered)}; rendered {number(updates.rendered)}, "
        f"coalesced {number(updates.coalesced)}, dropped {number(updates.dropped)}"
    )


def _chart(result: Result, style: Style) -> list[str]:
    if result.load is not None:
        return charts(result.load, style.width)
    if result.trajectory is not None:
        return sessions_chart(result.trajectory, style.width)
    if result.replay is None:
        return []
    for name in _CHARTED:
        points = result.replay.series.get(name)
        if points:
            end = max(points[-1].t_ns, result.replay.churn.wall_ns or 0, 1)
            frame = Frame(
                width=min(style.width - 12, 100),
                height=_CHART_ROWS,
                end_ns=end,
                label=duration,
                bursts=[(begin, min(stop, end)) for begin, stop in result.replay.bursts if begin < end],
            )
            return chart(f"{name} over {duration(end)}", points, frame)
    return []
