"""The parts of report.md that only replayed sessions have; each is empty where a result has none of it."""

from __future__ import annotations

from perfq.measure.result import Result
from perfq.measure.trajectory.facts import SessionFacts
from perfq.measure.wording import duration, number, size
from perfq.report.sessions_table import session_rows, wait_rows
from perfq.report.table import code, escaped, table


def sessions(result: Result) -> str:
    """What was replayed and how, and the table."""
    one, facts = result.trajectory, result.manifest.sessions
    if one is None:
        return ""
    lines = ["## Sessions\n", *([] if facts is None else [described(facts), ""])]
    lines.append(table(["", ""], [[escaped(name), escaped(text)] for name, text in session_rows(one)]))
    rows = wait_rows(one)
    if rows:
        lines.append(f"Of {number(one.waits.count)} waits, {duration(one.waits.planned_ns)} planned in all:\n")
        lines.append(table(["part of the extra wait", "p50", "p99", "max"], rows, numbers=range(1, 4)))
    return "\n".join(lines)


def failures(result: Result) -> str:
    """Sessions that failed, and why."""
    one = result.trajectory
    if one is None or not one.failures:
        return ""
    rows = [[number(each.n), code(each.id), escaped(each.why)] for each in one.failures]
    more = one.sessions.failed - len(rows)
    text = "## Sessions that failed\n\n" + table(["session", "id", "why"], rows, numbers=(0,))
    return text + (f"\n… and {number(more)} more in samples.ndjson.\n" if more > 0 else "")


def audits(result: Result) -> str:
    """Each audit, and what was seen where it did not pass."""
    one = result.trajectory
    if one is None or not one.audits.by_name:
        return ""
    rows = [
        [
            escaped(each.name),
            number(each.passed),
            number(each.failed),
            number(each.unknown),
            escaped("; ".join(each.evidence)),
        ]
        for each in one.audits.by_name
    ]
    return "## Exit audits\n\n" + table(["audit", "passed", "failed", "unknown", "seen"], rows, numbers=range(1, 4))


def described(facts: SessionFacts) -> str:
    """`80 sessions with 400 commands …` in a sentence or two."""
    budget = "no memory budget" if facts.budget_bytes is None else f"a memory budget of {size(facts.budget_bytes)}"
    most = "any number" if facts.max_concurrent is None else f"at most {number(facts.max_concurrent)}"
    pace = f"one start in {duration(facts.launch_interval_ns)}" if facts.launch_interval_ns else "starts at any pace"
    slow = f", each read {duration(facts.inject_read_delay_ns)} slower on purpose" if facts.inject_read_delay_ns else ""
    return (
        f"{number(facts.sessions)} sessions with {number(facts.commands)} commands and "
        f"{duration(facts.planned_wait_ns)} of planned waits; arrivals: {facts.arrivals}, the last after "
        f"{duration(facts.last_arrival_ns)}. {most.capitalize()} at once, {budget}, {pace}; commands may "
        f"take {duration(facts.timeout_ns)}. "
        f"Backend {facts.backend}, waits {facts.wait_mode}, sampling {facts.sampling}{slow}.\n\n"
        f"Work {code(facts.work_sha256[:12])}, plan {code(facts.plan_sha256[:12])}."
    )
