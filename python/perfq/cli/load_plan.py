"""`perfq load plan`: how the requests are shared among runners."""

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
  perfq load plan replay.yaml
  perfq load plan trace.zst --runners 10 --json | jq .imbalance_percent
"""


@click.command(epilog=EPILOG)
@load_options.file_argument
@load_options.input_options
@click.option(
    "--hot-keys",
    type=click.IntRange(0, 1_000),
    default=10,
    show_default=True,
    metavar="N",
    help="So many of the keys with the most requests.",
)
@load_options.fetch_option
@shared.json_option
def plan(file: str, fetch: bool, as_json: bool, **given: Any) -> None:
    """Counts the requests of each runner: least, most, imbalance, and the keys with the most requests.

    Requests on one object belong to one runner. Nothing is sent.
    """
    from perfq.load.at_hand import at_hand
    from perfq.load.reading import read_input
    from perfq.load.shares import shares_of

    with at_hand(file, fetching=fetch) as found:
        shares = shares_of(read_input(found, given), given)
    if as_json:
        click.echo(json.dumps(shares, indent=2))
        return
    click.echo("\n".join(table(("RUNNER", "REQUESTS"), _rows(shares["runners"], "index"))))
    click.echo(f"\nmin {shares['min']:,}, max {shares['max']:,}, imbalance {shares['imbalance_percent']:.1f} %")
    if shares["hot_keys"]:
        click.echo("\n" + "\n".join(table(("HOT KEY", "REQUESTS"), _rows(shares["hot_keys"], "key"))))


def _rows(items: list[dict[str, Any]], name: str) -> list[tuple[str, ...]]:
    return [(str(one[name]), f"{one['requests']:,}") for one in items]
