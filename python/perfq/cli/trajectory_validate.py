"""`perfq trajectory validate`: sessions and profiles, checked."""

from __future__ import annotations

import json
from typing import Any

import click

from perfq.cli import options as shared

EPILOG = """
Examples:

\b
  perfq trajectory validate sessions/*.json
  perfq trajectory validate agents.yaml --set trajectories.0.repeat=4 --json | jq .sessions[].arrival_ms
"""


@click.command(epilog=EPILOG)
@click.argument("documents", nargs=-1, required=True, metavar="FILE…")
@shared.set_option
@shared.seed_option
@click.option("--json", "as_json", is_flag=True, help="Print a profile's plan as JSON: one FILE, a profile.")
@shared.quiet_option
def validate(documents: tuple[str, ...], as_json: bool, quiet: bool, **changes: Any) -> None:
    """Checks sessions and profiles (told by their schema), and names every error of each: file, line, key, value seen,
    what is expected. Nothing is run.

    Of a profile also the sessions that it names are read, and what can be known before a run is said: sessions that
    could never be admitted, pauses that the backend has no command for, arrivals for another number of sessions.
    --set and --seed change profiles.
    """
    from perfq.errors import UsageError
    from perfq.trajectory import validated

    if as_json and len(documents) != 1:
        raise click.UsageError("--json prints one profile's plan; give one FILE.")
    complaints = []
    for name in documents:
        try:
            checked = validated.check(name, changes["assignments"], changes["seed"])
        except UsageError as error:
            complaints.append(error)
            continue
        if as_json:
            click.echo(json.dumps(validated.document(checked), indent=2))
        elif not quiet:
            click.echo("\n".join(validated.described(checked)))
    if len(complaints) == 1:
        raise complaints[0]
    if complaints:
        details = [line for error in complaints for line in str(error).splitlines()]
        raise UsageError(f"{len(complaints)} of {len(documents)} documents are not valid", details=details)
