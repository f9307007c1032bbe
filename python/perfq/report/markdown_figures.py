"""The parts of report.md that hold what was measured; each is empty where a result has none of it."""

from __future__ import annotations

from perfq.measure.result import Result
from perfq.measure.result.common import ProcessFigures
from perfq.measure.wording import amount, duration, number, size, yes
from perfq.report.table import code, escaped, fenced, table

#: Operations that are listed at most.
MAX_OPERATIONS = 20
#: Last screens of failed scenarios that are shown; the others are in result.json.
MAX_SCREENS = 3
#: Shorter runs show a slope of memory that is start and noise (the budget of client-1k has the same bound).
SLOPE_FROM_NS = 30 * 60 * 1_000_000_000


def load(result: Result) -> str:
    """The load as it was executed, beside what was asked for."""
    if result.replay is None:
        return ""
    churn, updates, probes = result.replay.churn, result.replay.updates, result.replay.probes
    lines = [
        f"{number(churn.committed)} of {number(churn.planned)} planned events were committed"
        f" ({amount(churn.achieved_rate, '/s')} achieved, {amount(churn.requested_rate, '/s')} requested)"
        + (f", {churn.skipped} skipped." if churn.skipped else ".")
    ]
    if result.replay.extended_seconds:
        lines.append(f"The run was extended by {result.replay.extended_seconds} s, to take all input samples.")
    if probes.planned:
        lines.append(
            f"Probe events: {probes.planned} planned, {probes.seen} seen, {probes.superseded} superseded, "
            f"{probes.lost} lost, {probes.unsent} not sent; they add {amount(churn.probe_rate, '/s')}."
        )
    rows = [
        [
            number(updates.requested),
            number(updates.delivered),
            number(updates.rendered),
            number(updates.coalesced),
            number(updates.dropped),
            number(result.replay.backlog.max_depth),
            ", ".join("never" if one is None else duration(one) for one in result.replay.backlog.drain_ns) or "–",
        ]
    ]
    head = ["requested", "delivered", "rendered", "coalesced", "dropped", "backlog max", "drain after bursts"]
    return "## Load as executed\n\n" + "\n".join(lines) + "\n\n" + table(head, rows, numbers=range(6))


def latency(result: Result) -> str:
    """Every latency with its n, in all and by phase."""
    rows = []
    for name, one in result.latency.items():
        if one is None:
            continue
        whole = [("", one), *one.phases.items()] if len(one.phases) > 1 else [("", one)]
        for phase, figures in whole:
            label = code(name) if not phase else f"&nbsp;&nbsp;{phase}"
            count = number(figures.count)
            if not phase and one.censored:
                count += f" ({one.censored} censored)"
            times = (figures.p50, figures.p95, figures.p99, figures.p999, figures.max)
            rows.append([label, count, *(duration(t) for t in times)])
    if not rows:
        return ""
    known = [(name, one) for name, one in result.latency.items() if one is not None]
    notes = "\n".join(f"- {code(name)}: {escaped(one.definition)}" for name, one in known)
    head = ["latency", "n", "p50", "p95", "p99", "p99.9", "max"]
    return (
        "## Latency\n\n"
        + table(head, rows, numbers=range(1, 7))
        + f"\n<details><summary>What each is ({known[0][1].method} quantiles)</summary>\n\n{notes}\n\n</details>\n"
    )


def start(result: Result) -> str:
    """From the start of the process to a full table."""
    if result.replay is None:
        return ""
    one = result.replay.start
    rows = [[duration(one.interactive_ns), duration(one.list_to_populated_ns), duration(one.populated_screen_ns)]]
    return "## Start\n\n" + table(["interactive", "LIST → populated table", "populated screen"], rows, numbers=range(3))


def process(result: Result) -> str:
    """CPU and memory of client and harness."""
    rows = [
        _process_row(name, one)
        for name, one in (("client", result.process.client), ("harness", result.process.harness))
        if one is not None
    ]
    if not rows:
        return ""
    head = ["process", "CPU", "CPU max", "peak RSS", "RSS slope", "samples"]
    return "## Process\n\n" + table(head, rows, numbers=range(1, 6)) + _slope_note(result) + _terminal(result)


def _slope_note(result: Result) -> str:
    """A slope per minute from seconds of a run looks like a leak; it says how much time it stands on."""
    slopes = (one.rss_slope_bytes_per_min for one in (result.process.client, result.process.harness) if one)
    wall_ns, of = _driven(result)
    if wall_ns is None or wall_ns >= SLOPE_FROM_NS or all(slope is None for slope in slopes):
        return ""
    return f"\nThe RSS slopes come from {duration(wall_ns)} of {of}; below 30 min a slope is start and noise.\n"


def _driven(result: Result) -> tuple[int | None, str]:
    """How long the load was on, and what it is called."""
    if result.load is not None:
        return sum(one.wall_ns or 0 for one in result.load.segments), "load"
    return None if result.replay is None else result.replay.churn.wall_ns, "churn"


def _terminal(result: Result) -> str:
    one = None if result.replay is None else result.replay.terminal
    if one is None:
        return ""
    rate = f" ({amount(one.frames / one.seconds, '/s')})" if one.seconds > 0 else ""
    frames = f"{number(one.frames)} frames{rate}, {number(one.redraws)} full redraws"
    lines = [f"\nThe client wrote {size(one.bytes)} to its terminal: {frames}."]
    if one.idle_cpu_percent is not None:
        lines.append(f"While nothing happened it used {amount(one.idle_cpu_percent, 'percent')} of a CPU.")
    if one.resizes:
        drawn = one.resizes - one.resizes_failed
        worst = "" if one.resize_max_ns is None else f", at most {amount(one.resize_max_ns, 'ns')} later"
        lines.append(f"{drawn} of {one.resizes} changes of size were followed by a whole new screen{worst}.")
    return " ".join(lines) + "\n"


def _process_row(name: str, one: ProcessFigures) -> list[str]:
    slope = "–"
    if one.rss_slope_bytes_per_min is not None:
        slope = f"{size(one.rss_slope_bytes_per_min)}/min (n {number(one.rss_slope_samples)})"
    cpu = "–" if one.cpu_seconds is None else f"{one.cpu_seconds:.3g} s"
    return [name, cpu, amount(one.cpu_percent_max, "percent"), size(one.rss_peak_bytes), slope, number(one.samples)]


def api(result: Result) -> str:
    """What the server saw of the client."""
    one = result.api
    if one is None:
        return ""
    rows = [
        [
            code(name),
            number(op.count),
            number(op.pages),
            number(op.objects),
            size(op.bytes),
            size(op.bytes / op.objects) if op.objects else "–",
            number(op.errors),
        ]
        for name, op in list(one.operations.items())[:MAX_OPERATIONS]
    ]
    head = ["operation", "n", "pages", "objects", "bytes", "bytes an object", "errors"]
    text = "## API\n\n" + table(head, rows, numbers=range(1, 7))
    if len(one.operations) > MAX_OPERATIONS:
        text += f"\n… and {len(one.operations) - MAX_OPERATIONS} more in result.json.\n"
    return text + (
        f"\n{number(one.watch_events)} watch events, {size(one.decoded_bytes)} decoded, "
        f"{number(one.reconnects)} reconnects, {number(one.relists)} re-lists, {number(one.throttles)} throttles, "
        f"{number(one.authorization_failures)} authorization failures, "
        f"{number(one.unexpected_gets)} unexpected GETs.\n"
    )


def digests(result: Result) -> str:
    """What store and table held in the end, against the plan."""
    if result.replay is None:
        return ""
    one = result.replay.digests
    rows = [
        [name, code(value)]
        for name, value in (("expected", one.expected), ("store", one.store), ("table", one.table))
        if value
    ]
    return f"## Digests\n\nMatch: {yes(one.match)}\n\n" + (table(["", "SHA-256"], rows) if rows else "")


def failures(result: Result) -> str:
    """Each injected failure, whether it was met, and whether the client was shown to handle it."""
    if result.replay is None or not result.replay.failures_injected:
        return ""
    rows = [
        [code(kind), number(one.injected), number(one.exercised), yes(one.shown), escaped(one.why or "")]
        for kind, one in result.replay.failures_injected.items()
    ]
    head = ["failure", "injected", "exercised", "shown", "why"]
    return "## Failures\n\n" + table(head, rows, numbers=(1, 2))


def scenarios(result: Result) -> str:
    """Each scenario; the last screen of those that failed."""
    if result.replay is None or not result.replay.scenarios:
        return ""
    rows = [[escaped(one.name), "ok" if one.ok else "**failed**"] for one in result.replay.scenarios]
    text = "## Scenarios\n\n" + table(["scenario", ""], rows)
    screens = [one for one in result.replay.scenarios if not one.ok and one.screen]
    for one in screens[:MAX_SCREENS]:
        if one.screen:
            summary = f"<details><summary>last screen of {escaped(one.name)}</summary>"
            text += f"\n{summary}\n\n{fenced(one.screen)}\n</details>\n"
    return text
