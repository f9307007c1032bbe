"""`perfq trajectory report`: results rendered again, several side by side."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from perfq.cli.report import put

EPILOG = """
Examples:

\b
  perfq trajectory report runs/agents-1201-120000-abcd
  perfq trajectory report runs/isolated runs/inline runs/off
  perfq trajectory report runs/runc runs/local --format md --output sides.md
"""


@click.command(epilog=EPILOG)
@click.argument("runs", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="DIR…")
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "md", "junit", "json"]),
    default="text",
    show_default=True,
    help="junit is for one run alone.",
)
@click.option(
    "-o", "--output", "out", type=click.Path(path_type=Path), metavar="FILE", help="Write there instead of to stdout."
)
def report(runs: tuple[Path, ...], form: str, out: Path | None) -> int:
    """Renders the results of runs again, whatever their verdicts, and exits 0.

    Several DIRs stand side by side, with what they differ in and why they may not be compared; of one that --repeat
    made, the medians of its runs. Of a run that was killed, result.json is first rebuilt from what was recorded (as
    ABORTED).
    """
    from perfq.report.summary import Style, style_of
    from perfq.trajectory.reporting import report_text

    style = style_of(sys.stdout) if out is None else Style(width=100)
    put(report_text(runs, form, style), out)
    return 0
