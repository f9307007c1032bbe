"""`perfq load check`: validate an input and print its plan."""

from __future__ import annotations

import json
from typing import Any

import click

from perfq.cli import load_options
from perfq.cli import options as shared
from perfq.cli.table import table

EPILOG = """
Examples:

\b
  perfq load check loads/mix.yaml
  perfq load check group.yaml --runners 10 --json | jq .requests
"""


@click.command(epilog=EPILOG)
@load_options.file_argument
@load_options.input_options
@load_options.fetch_option
@shared.json_option
def check(file: str, fetch: bool, as_json: bool, **given: Any) -> None:
    """Validates FILE, names every error of it, and prints what it comes to. Nothing is sent."""
    from perfq.load import checked
    from perfq.load.at_hand import at_hand
    from perfq.load.reading import read_input

    with at_hand(file, fetching=fetch) as found:
        planned = read_input(found, given)
    if as_json:
        click.echo(json.dumps(checked.document(planned), indent=2))
        return
    click.echo("\n".join(f"{name:<12}{value}" for name, value in checked.described(planned)))
    if planned.segments:
        click.echo("\n" + "\n".join(table(checked.HEADER, checked.segment_rows(planned))))
    for line in checked.remarks(planned):
        click.echo(f"perfq: {line}", err=True)
