"""`perfq plan`: what a profile comes to."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import click

from perfq.cli import options as shared
from perfq.cli.table import table

if TYPE_CHECKING:
    from perfq._core import Plan

EPILOG = """
Examples:

\b
  perfq plan smoke-1k
  perfq plan my-profile.yaml --duration 20s --set seed=7 --json
  perfq plan burst-50k --emit events | sha256sum
"""


@click.command(epilog=EPILOG)
@shared.profile_argument
@click.option(
    "--emit",
    type=click.Choice(["profile", "objects", "events", "final"]),
    help="Print the canonical text instead: the resolved profile, the initial objects, the events, or the objects "
    "after all events. Its SHA-256 is the hash that reports carry.",
)
@shared.plan_options
@shared.json_option
def plan(profile: str, emit: str | None, as_json: bool, **changes: Any) -> None:
    """Resolves PROFILE (a built-in id, a file, or - for standard input) into its plan: counts, rates, hashes.

    Nothing is started. The same profile and seed give the same bytes and hashes on any machine.
    """
    from perfq._core import Plan
    from perfq.profile.workload import plan_document, resolve_profile

    if emit and as_json:
        raise click.UsageError("--emit and --json: give one of them.")
    resolved = Plan(resolve_profile(profile, **changes).to_json())
    if emit:
        sys.stdout.flush()
        resolved.emit_to(emit, sys.stdout.fileno())
    elif as_json:
        click.echo(plan_document(resolved), nl=False)
    else:
        click.echo(as_text(resolved))


def as_text(plan: Plan) -> str:
    """The plan for people."""
    from perfq.profile.workload_model import PlanDocument

    document = PlanDocument.of(plan)
    rows = [
        ("id", document.id),
        ("profile hash", document.profile_hash),
        ("object hash", document.object_hash),
        ("event hash", document.event_hash),
        ("final hash", document.final_hash),
        ("", ""),
        ("objects", f"{document.objects:,} Pods in {_count(document.namespaces, 'namespace')}"),
        ("events", f"{document.events:,}"),
        ("rate", f"{document.peak_rate:,}/s peak, {document.mean_rate:,.1f}/s mean"),
        ("duration", f"{document.duration_seconds:,} s"),
    ]
    lines = [f"{name:<14}{value}".rstrip() for name, value in rows]
    if document.bursts:
        lines += ["", *table(("BURST", "START", "LENGTH", "RATE"), _bursts(document.bursts))]
    if document.failures:
        failures = [(one.kind, f"{one.at_event:,}") for one in document.failures]
        lines += ["", *table(("FAILURE", "AT EVENT"), failures)]
    return "\n".join(lines)


def _bursts(bursts: Any) -> list[tuple[str, ...]]:
    return [
        (str(i), f"{one.start_second:,} s", f"{one.duration_seconds:,} s", f"{one.events_per_second:,}/s")
        for i, one in enumerate(bursts)
    ]


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'s' if number != 1 else ''}"
