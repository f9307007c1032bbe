"""`perfq client`: definitions of clients under test."""

from __future__ import annotations

import json

import click

from perfq.cli import Group
from perfq.cli import options as shared
from perfq.cli.table import table

EPILOG = """
Examples:

\b
  perfq client list
  perfq client show kubectl-watch > mine.yaml
  perfq client check mine.yaml
"""


@click.group(cls=Group, epilog=EPILOG)
def client() -> None:
    """Lists, shows and checks client definitions: what differs between one program in a terminal and another."""


@client.command("list", epilog="\b\nExample:\n  perfq client list --json | jq -r '.[].name'")
@shared.json_option
def list_(as_json: bool) -> None:
    """Lists the built-in definitions."""
    from perfq.profile.client_files import BUILTIN_CLIENTS, load_client_named

    found = [load_client_named(name) for name in BUILTIN_CLIENTS]
    if as_json:
        click.echo(json.dumps([one.model_dump(by_alias=True) for one in found], indent=2))
        return
    rows = [
        (
            one.name,
            "yes" if one.probe else "no",
            one.rows,
            "yes" if one.has_cursor else "no",
            str(len(one.scenarios)),
            one.description,
        )
        for one in found
    ]
    click.echo("\n".join(table(("NAME", "PROBE", "ROWS", "CURSOR", "SCENARIOS", "WHAT IT IS"), rows)))


@client.command(epilog="\b\nExample:\n  perfq client show viewer")
@click.argument("name", type=shared.CLIENT, metavar="NAME")
def show(name: str) -> None:
    """Prints the definition NAME, as a start for one of your own."""
    from perfq.profile.client_files import client_text

    click.echo(client_text(name), nl=False)


@client.command(
    epilog="\b\nExample:\n  perfq client check mine.yaml --duration 20s\n  perfq client check kubectl-watch"
)
@click.argument("definition", type=shared.CLIENT_OR_FILE, metavar="NAME|FILE")
@click.argument("command", nargs=-1, type=click.UNPROCESSED)
@shared.duration_option
@shared.json_option
@shared.quiet_option
def check(definition: str, command: tuple[str, ...], duration: int | None, as_json: bool, quiet: bool) -> int:
    """Runs the client for ten seconds on smoke-1k and shows what of its definition matched and what did not,
    with the key of the definition that each is about.

    Ends with 3 where something that is declared was not found; the client's last screen is shown then.
    """
    from perfq.profile.client_files import load_client
    from perfq.replay.client_check import check_client

    loaded = load_client(definition)
    if not quiet:
        click.echo(f"perfq: {loaded.name} runs on smoke-1k", err=True)
    report = check_client(loaded, command, 10 if duration is None else duration)
    if as_json:
        click.echo(json.dumps(report.to_document(), indent=2))
        return 0 if report.fits else 3
    words = {True: "fits", False: "NO", None: "-"}
    rows = [(words[one.fits], one.what, ", ".join(one.keys) or "-", one.seen) for one in report.findings]
    click.echo("\n".join(table(("", loaded.name.upper(), "KEY", "SEEN"), rows)))
    if report.fits:
        return 0
    screen = "\n".join(f"  {line}".rstrip() for line in report.screen).rstrip()
    click.echo(f"\nthe last screen:\n{screen}")
    return 3
