"""`perfq report`: a result rendered again."""

from __future__ import annotations

import sys
from pathlib import Path

import click

EPILOG = """
Examples:

\b
  perfq report runs/smoke-1k-1201-120000-abcd
  perfq report runs/before --format md --output before.md
  perfq report runs/before/result.json --format junit
"""


@click.command(epilog=EPILOG)
@click.argument("run", type=click.Path(path_type=Path), metavar="DIR")
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "md", "junit", "json"]),
    default="text",
    show_default=True,
    help="text: the summary; md: report.md; junit: junit.xml; json: result.json.",
)
@click.option(
    "-o", "--output", "out", type=click.Path(path_type=Path), metavar="FILE", help="Write there instead of to stdout."
)
def report(run: Path, form: str, out: Path | None) -> int:
    """Renders the result of a run DIR again, whatever its verdict, and exits 0.

    Everything comes from result.json alone. Of a run that was killed, result.json is first rebuilt from
    what was recorded (as ABORTED), with report.md and junit.xml beside it.
    """
    from perfq.drive.rebuild import result_of
    from perfq.report.forms import rendered
    from perfq.report.summary import Style, style_of

    style = style_of(sys.stdout) if out is None else Style(width=100)
    put(rendered(result_of(run), form, style), out)
    return 0


def put(text: str, out: Path | None) -> None:
    """To stdout, or to a file; a usage error where that cannot be written."""
    if out is None:
        click.echo(text, nl=False)
        return
    try:
        out.write_text(text, encoding="utf-8")
    except OSError as error:
        raise click.UsageError(f"--output {out}: cannot be written ({error.strerror})") from error
