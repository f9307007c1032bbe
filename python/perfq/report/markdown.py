"""report.md: one result as Markdown that fits a pull request. A pure function of the result."""

from __future__ import annotations

from perfq.measure.result import Result
from perfq.report import markdown_allocations as traced
from perfq.report import markdown_figures as figures
from perfq.report import markdown_verdict as judged


def markdown(result: Result) -> str:
    """Verdict and why, budgets, identity, load, latency, process, API, allocations, digests, failures and scenarios,
    warnings with advice, how to reproduce it."""
    parts = [
        judged.verdict(result),
        judged.budgets(result),
        judged.identity(result),
        figures.load(result),
        figures.latency(result),
        figures.start(result),
        figures.process(result),
        figures.api(result),
        traced.allocations(result),
        figures.digests(result),
        figures.failures(result),
        figures.scenarios(result),
        judged.validity(result),
        judged.warnings(result),
        judged.reproduce(result),
    ]
    return "\n".join(part.rstrip() + "\n" for part in parts if part)
