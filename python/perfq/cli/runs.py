"""`perfq runs`: the run directories."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import click

from perfq import units
from perfq.cli import Group
from perfq.cli import options as shared
from perfq.cli.table import table

if TYPE_CHECKING:
    from perfq.drive.runs import RunEntry

EPILOG = """
Examples:

\b
  perfq runs list
  perfq runs show smoke-1k-1201-120000-abcd
  perfq runs prune --keep 20 --older-than 30d
"""

folder_option = click.option(
    "--dir",
    "folder",
    type=click.Path(path_type=Path),
    default="runs",
    show_default=True,
    metavar="DIR",
    help="The folder that holds the run directories.",
)


@click.group(cls=Group, epilog=EPILOG)
def runs() -> None:
    """Lists, shows and removes runs."""


@runs.command("list", epilog="\b\nExample:\n  perfq runs list --dir results --json")
@folder_option
@shared.json_option
def list_(folder: Path, as_json: bool) -> None:
    """Lists runs, the oldest first. A run without a verdict is under way, or was killed."""
    from perfq.drive.runs import find_runs

    entries = find_runs(folder)
    if as_json:
        click.echo(json.dumps([_as_json(entry) for entry in entries], indent=2))
    elif entries:
        click.echo("\n".join(table(("STARTED", "RUN", "RUNS", "PROFILE", "CLIENT", "VERDICT", "SIZE"), _rows(entries))))
    else:
        click.echo(f"perfq: no runs in {folder}", err=True)


@runs.command(epilog="\b\nExample:\n  perfq runs show smoke-1k-1201-120000-abcd")
@click.argument("run", metavar="RUN")
@folder_option
def show(run: str, folder: Path) -> None:
    """Prints the summary of RUN, the name of a run directory; of a run of --repeat, that of each."""
    import sys

    from perfq.cli.nearest import did_you_mean
    from perfq.drive.rebuild import result_of
    from perfq.drive.runs import find_runs
    from perfq.report.summary import style_of, summary

    entries = {entry.path.name: entry for entry in find_runs(folder)}
    if run not in entries:
        raise click.UsageError(f"No run {run!r} in {folder}.{did_you_mean(run, entries)}")
    for path in entries[run].runs():
        click.echo(summary(result_of(path), style_of(sys.stdout)), nl=False)


@runs.command(epilog="\b\nExamples:\n  perfq runs prune --keep 20\n  perfq runs prune --older-than 30d --yes")
@folder_option
@click.option("--keep", type=click.IntRange(min=0), metavar="N", help="Leave the newest N.")
@click.option("--older-than", type=shared.SECONDS, metavar="TIME", help="Only runs that started longer ago: 30d, 12h.")
@click.option("--yes", is_flag=True, help="Do it. Without this, what would be done is printed.")
def prune(folder: Path, keep: int | None, older_than: float | None, yes: bool) -> None:
    """Removes old runs that have a result; without --yes it only says which. Other folders are never touched."""
    from perfq.drive.runs import find_runs, remove, to_prune

    if keep is None and older_than is None:
        raise click.UsageError("Give --keep or --older-than, or both.")
    before = datetime.now(UTC) - timedelta(seconds=older_than) if older_than is not None else None
    chosen = to_prune(find_runs(folder), keep=keep, before=before)
    for entry in chosen:
        if yes:
            remove(entry)
        click.echo(f"{'removed' if yes else 'would remove'} {entry.path} ({units.show_bytes(entry.bytes)})")
    if not chosen:
        click.echo(f"perfq: nothing to remove in {folder}", err=True)


def _as_json(entry: RunEntry) -> dict[str, object]:
    return {
        "path": str(entry.path),
        "kind": entry.kind,
        "profile": entry.profile,
        "client": entry.client,
        "started_at": entry.started_at.isoformat(),
        "verdict": entry.verdict,
        "verdicts": list(entry.verdicts),
        "bytes": entry.bytes,
    }


def _rows(entries: list[RunEntry]) -> list[tuple[str, ...]]:
    return [
        (
            entry.started_at.strftime("%Y-%m-%d %H:%M:%SZ"),
            entry.path.name,
            str(len(entry.verdicts)),
            entry.profile,
            entry.client or "-",
            entry.verdict or "-",
            units.show_bytes(entry.bytes),
        )
        for entry in entries
    ]
