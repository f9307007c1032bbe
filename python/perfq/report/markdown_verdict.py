"""The parts of report.md that say what was run and how it was judged; each is empty where there is nothing to say."""

from __future__ import annotations

from perfq.measure.manifest import TargetFacts
from perfq.measure.result import Result
from perfq.measure.result.common import Check
from perfq.measure.wording import amount, budget_limit, budget_name, budget_seen, number
from perfq.report.table import code, escaped, fenced, table

MARKS = {"PASS": "✅", "FAIL": "❌", "INVALID": "⚠️", "ABORTED": "⏹️"}


def verdict(result: Result) -> str:
    """The line that a reader needs, and why."""
    status = result.verdict.status
    lines = [f"# {MARKS[status]} {status}: {_subject(result)}", ""]
    lines += [f"- {escaped(reason)}" for reason in result.verdict.reasons]
    return "\n".join(lines)


def budgets(result: Result) -> str:
    """Each budget with limit, observed, margin, n and status."""
    if not result.budgets:
        return "## Budgets\n\nNo budgets were given.\n"
    rows = []
    for one in result.budgets:
        status = f"**{one.status.replace('_', ' ')}**" if one.status in ("missed", "not_measurable") else one.status
        rows.append(
            [
                code(budget_name(one)),
                budget_limit(one).replace("<", "\\<").replace(">", "\\>"),
                escaped(budget_seen(one)),
                amount(one.margin, one.unit),
                number(one.n),
                status.replace("_", " "),
            ]
        )
    text = "## Budgets\n\n" + table(["metric", "limit", "observed", "margin", "n", "status"], rows, numbers=(4,))
    changed = [one for one in result.budgets if one.was is not None]
    if changed:
        text += "\nLimits that were changed:\n\n" + "\n".join(
            f"- {code(budget_name(one))}: was {escaped(one.was)}, now {escaped(budget_limit(one))}"
            + (f": {escaped(one.rationale)}" if one.rationale else "")
            for one in changed
        )
    return text


def identity(result: Result) -> str:
    """What was run on what."""
    part = result.manifest
    client = part.client
    rows = [["run", code(result.run_id)], ["profile" if part.input is None else "input", _input(result)]]
    for name, digest in (
        ("profile hash" if part.input is None else "input SHA-256", part.profile_hash),
        ("object hash", part.object_hash),
        ("event hash", part.event_hash),
        ("final hash", part.final_hash),
    ):
        if digest is not None:
            rows.append([name, code(digest)])
    if client is not None:
        version = f" {client.version}" if client.version else ""
        rows.append(["client", f"{escaped(client.name + version)}: {code(' '.join(client.argv))}"])
        if client.libraries:
            rows.append(["libraries", escaped(", ".join(f"{k} {v}" for k, v in sorted(client.libraries.items())))])
        if client.terminal is not None:
            size_of = f"{client.terminal.cols}×{client.terminal.rows}"
            drawn = [size_of, *(f"{k}={v}" for k, v in sorted(client.terminal.environment.items()))]
            rows.append(["terminal", escaped(", ".join(drawn))])
        if client.cwd is not None:
            rows.append(["started in", code(client.cwd)])
    built = ", ".join(x for x in (part.perfq.commit, part.perfq.build) if x)
    rows.append(["perfq", escaped(part.perfq.version + (f" ({built})" if built else ""))])
    host = part.host
    cpus = f"{host.cpu_count} CPUs ({host.cpus_allowed:g} allowed)" if host.cpus_allowed else f"{host.cpu_count} CPUs"
    rows.append(["host", escaped(", ".join(str(x) for x in (host.os, host.kernel, host.cpu, cpus) if x))])
    rows.append(["target", _target(part.target)])
    rows.append(["time", escaped(f"{part.started_at} to {part.finished_at or 'unknown'}")])
    return "## Identity\n\n" + table(["", ""], rows)


def validity(result: Result) -> str:
    """Every rule with its figure and limit."""
    rows = [
        [escaped(one.name), _observed(one), "–" if one.limit is None else amount(one.limit, one.unit), _status(one)]
        for one in result.validity.checks
    ]
    return "## Validity\n\n" + table(["rule", "observed", "limit", "status"], rows, numbers=(1, 2))


def warnings(result: Result) -> str:
    """What a reader should know, with advice; what has the same reason stands together."""
    if not result.warnings:
        return ""
    by_text: dict[tuple[str, str | None], list[str]] = {}
    for one in result.warnings:
        by_text.setdefault((one.text, one.advice), []).extend([one.field] if one.field else [])
    lines = []
    for (text, hint), fields in by_text.items():
        where = f" ({', '.join(code(field) for field in fields)})" if fields else ""
        advice = f"; {escaped(hint)}" if hint else ""
        lines.append(f"- {escaped(text)}{advice}{where}")
    return "## Warnings\n\n" + "\n".join(lines)


def reproduce(result: Result) -> str:
    """The command line, and what was left behind."""
    text = f"## Reproduce\n\n{fenced(result.manifest.command)}"
    if not result.cleanup.complete:
        text += "\nLeft behind: " + ", ".join(code(one) for one in result.cleanup.left) + "\n"
        if result.cleanup.command:
            text += f"\n{fenced(result.cleanup.command)}"
    return text


def _input(result: Result) -> str:
    part = result.manifest
    if part.input is None:
        return code(part.profile_id or "–")
    described = f": {escaped(part.input.description)}" if part.input.description else ""
    return f"{code(part.input.name)}, {part.input.kind}{described}"


def _target(target: TargetFacts) -> str:
    words = [f"{target.kind}{' (TLS)' if target.tls else ''}"]
    words += [f"{number(target.pod_bytes)} bytes a Pod"] if target.pod_bytes else []
    if target.kind == "cluster":
        words += [
            target.server or "no URL",
            f"cluster {target.cluster_id or 'unknown'}",
            target.version or "no version",
        ]
    return escaped(", ".join(words))


def _subject(result: Result) -> str:
    client = result.manifest.client
    by = f" with {client.name}" if client is not None else ""
    return escaped(f"{result.kind} of {result.manifest.profile_id or 'a plan'}{by}")


def _observed(check: Check) -> str:
    if isinstance(check.observed, str) and len(check.observed) == 64:
        return code(check.observed[:12] + "…")
    return escaped(amount(check.observed, check.unit))


def _status(check: Check) -> str:
    text = check.status.replace("_", " ")
    if check.status in ("failed", "unknown"):
        return f"**{text}**" + (f": {escaped(check.advice)}" if check.advice else "")
    return text
