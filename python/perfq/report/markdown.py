"""report.md: one result as Markdown that fits a pull request. A pure function of the result."""

from __future__ import annotations

from perfq.measure.result import Result
from perfq.report import markdown_allocations as traced
from perfq.report import markdown_figures as figures
from perfq.report import markdown_load as loaded
from perfq.report import markdown_trajectory as replayed
from perfq.report import markdown_verdict as judged
from perfq.report.markdown_server import server


def markdown(result: Result) -> str:
    """Verdict and why, budgets, identity, load or sessions, latency, process, API, allocations, digests, failures and
    scenarios, exit audits, warnings with advice, how to reproduce it."""
    parts = [
        judged.verdict(result),
        judged.budgets(result),
        judged.identity(result),
        figures.load(result),
        loaded.executed(result),
        replayed.sessions(result),
        replayed.failures(result),
        figures.latency(result),
        loaded.errors(result),
        loaded.series(result),
        server(result),
        figures.start(result),
        figures.process(result),
        figures.api(result),
        traced.allocations(result),
        figures.digests(result),
        figures.failures(result),
        figures.scenarios(result),
        replayed.audits(result),
        judged.validity(result),
        judged.warnings(result),
        judged.reproduce(result),
    ]
    return "\n".join(part.rstrip() + "\n" for part in parts if part)
