"""report.md: one result as Markdown that fits a pull request. A pure function of the result."""

from __future__ import annotations

from perfq.measure.result import Result
from perfq.report import markdown_sections as sections


def markdown(result: Result) -> str:
    """Verdict and why, budgets, identity, load, latency, process, API, digests, failures and scenarios,
    warnings with advice, how to reproduce it."""
    parts = [
        sections.verdict(result),
        sections.budgets(result),
        sections.identity(result),
        sections.load(result),
        sections.latency(result),
        sections.start(result),
        sections.process(result),
        sections.api(result),
        sections.digests(result),
        sections.failures(result),
        sections.scenarios(result),
        sections.validity(result),
        sections.warnings(result),
        sections.reproduce(result),
    ]
    return "\n".join(part.rstrip() + "\n" for part in parts if part)
