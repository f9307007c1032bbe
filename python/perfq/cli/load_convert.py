"""`perfq load convert`: a replay profile of kperf made into a trace."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from perfq.cli import load_options
from perfq.cli import options as shared

EPILOG = """
Examples:

\b
  perfq load convert replay.yaml --out replay.trace.zst
  perfq load convert https://example.test/replay.yaml.gz --out replay.trace
"""


@click.command(epilog=EPILOG)
@load_options.file_argument
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    required=True,
    metavar="TRACE",
    help="Packed where it ends in .gz or .zst.",
)
@load_options.allow_unknown_option
@load_options.rewrite_options
@shared.json_option
def convert(file: str, out: Path, as_json: bool, **given: Any) -> None:
    """Makes a perfq trace of a replay profile of kperf; of a trace, one that is packed otherwise.

    What was guessed or lost on the way is counted in the trace's header.
    """
    from perfq.load.at_hand import at_hand
    from perfq.load.convert import convert_input
    from perfq.load.rewriting import reading_options

    with at_hand(file, fetching=True) as found:
        converted = convert_input(found, out, reading_options(given))
    if as_json:
        click.echo(json.dumps(converted["header"], indent=2))
        return
    counts = converted["counts"]
    verbs = ", ".join(f"{verb} {count:,}" for verb, count in counts["verbs"].items())
    click.echo(f"{out}: {counts['requests']:,} requests over {counts['span_us'] / 1e6:,.6g} s ({verbs})")
    for loss in converted["losses"]:
        click.echo(f"perfq: {loss['loss']}: {loss['count']:,} {loss['text']}", err=True)
