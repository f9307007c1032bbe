"""`perfq profile`: workload profiles."""

from __future__ import annotations

import json

import click

from perfq.cli import Group
from perfq.cli import options as shared
from perfq.cli.table import table

EPILOG = """
Examples:

\b
  perfq profile list
  perfq profile show smoke-1k > my-profile.json
  perfq profile validate my-profile.json
"""


@click.group(cls=Group, epilog=EPILOG)
def profile() -> None:
    """Lists, shows and validates workload profiles: how many Pods there are and how they change."""


@profile.command("list", epilog="\b\nExample:\n  perfq profile list --json | jq -r '.[].id'")
@shared.json_option
def list_(as_json: bool) -> None:
    """Lists the built-in profiles."""
    from perfq.profile.builtin_ids import BUILTIN_IDS
    from perfq.profile.workload import resolve_profile

    profiles = [resolve_profile(name) for name in BUILTIN_IDS]
    if as_json:
        click.echo(json.dumps([one.model_dump() for one in profiles], indent=2))
        return
    rows = [
        (
            one.id,
            f"{one.object_count:,}",
            f"{one.namespace_count:,}",
            f"{one.steady_events_per_second:,}/s",
            f"{one.duration_seconds:,} s",
            " ".join(f"{b.start_second}+{b.duration_seconds}@{b.events_per_second}" for b in one.bursts) or "-",
            " ".join(f"{failure.kind}@{failure.at_event}" for failure in one.failures) or "-",
        )
        for one in profiles
    ]
    header = ("ID", "PODS", "NAMESPACES", "STEADY", "DURATION", "BURSTS (START+LENGTH@RATE)", "FAILURES (@EVENT)")
    click.echo("\n".join(table(header, rows)))


@profile.command(epilog="\b\nExample:\n  perfq profile show smoke-1k --set object_count=2000 > my-profile.json")
@shared.profile_argument
@shared.plan_options
def show(profile: str, **changes: object) -> None:
    """Prints PROFILE as JSON, resolved: with every field and with what the flags change."""
    from perfq.profile.workload import resolve_profile

    click.echo(resolve_profile(profile, **changes).model_dump_json(indent=2))  # type: ignore[arg-type]


@profile.command(epilog="\b\nExample:\n  perfq profile validate profiles/*.yaml")
@click.argument("profiles", nargs=-1, required=True, type=shared.PROFILE, metavar="PROFILE…")
@shared.quiet_option
def validate(profiles: tuple[str, ...], quiet: bool) -> None:
    """Checks profiles and names every error of each: file, line, key, value seen, what is expected."""
    from perfq.errors import UsageError
    from perfq.profile.shown import show_text
    from perfq.profile.workload import resolve_profile

    complaints = []
    for name in profiles:
        try:
            found = resolve_profile(name)
        except UsageError as error:
            complaints.append(error)
        else:
            if not quiet:
                click.echo(f"{show_text(name)}: valid, {found.object_count:,} Pods, id {json.dumps(found.id)}")
    if len(complaints) == 1:
        raise complaints[0]
    if complaints:
        details = [line for error in complaints for line in str(error).splitlines()]
        raise UsageError(f"{len(complaints)} of {len(profiles)} profiles are not valid", details=details)
