"""`perfq trajectory import`: recordings of other programs → sessions."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from perfq.trajectory.importers.building import Imported, Lost
    from perfq.trajectory.importing import Imports

EPILOG = """
Examples:

\b
  perfq trajectory import astropy-12907.traj.json > session.json
  perfq trajectory import runs/*.traj.json --out sessions
  perfq trajectory import old.traj --missing-wait seeded --wait-seed 7 --out sessions --json | jq .[].losses
"""


@click.command("import", epilog=EPILOG)
@click.argument("recordings", nargs=-1, required=True, metavar="RECORDING…")
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="Write each session to a file of its own there; without it they go to standard output.",
)
@click.option(
    "--format",
    "format_",
    metavar="FORMAT",
    help="mini-swe-agent, openhands, swe-agent or atif (default: told by the content).",
)
@click.option(
    "--missing-wait",
    type=click.Choice(["reject", "zero", "seeded"]),
    default="reject",
    show_default=True,
    help="Where waits are not recorded: an error, no wait at all, or some seconds drawn from --wait-seed.",
)
@click.option(
    "--wait-seed", type=click.IntRange(0, 2**63 - 1), default=0, show_default=True, metavar="N", help="Of drawn waits."
)
@click.option("--json", "as_json", is_flag=True, help="With --out: the report as JSON.")
def import_(recordings: tuple[str, ...], out: Path | None, as_json: bool, **given: Any) -> None:
    """Makes sessions of RECORDINGs: files of mini-swe-agent (1.1), OpenHands (V0, V1), SWE-agent and ATIF (1.0 to 1.7),
    or folders of OpenHands' events; - for standard input.

    Each action is given its fate, only what ran is replayed, and everything else is listed as lost. A wait is what the
    recording says, or it is missing; none is made up. Where one recording has an error, nothing is written.
    """
    from perfq.trajectory.imported import described, report, written
    from perfq.trajectory.importers.building import ImportOptions
    from perfq.trajectory.importing import format_named, import_files

    if as_json and out is None:
        raise click.UsageError("--json is the report, and goes with --out; without --out the sessions are printed.")
    format_ = None if given["format_"] is None else format_named(given["format_"])
    imports = import_files(recordings, ImportOptions(given["missing_wait"], given["wait_seed"]), format_)
    if out is None:
        _print(imports)
        return
    told: list[tuple[Imported | Lost, str | None]] = []
    told += zip(imports.sessions, map(str, written(imports.sessions, out)), strict=True)
    told += ((one, None) for one in imports.lost)
    if as_json:
        click.echo(json.dumps([report(one, path) for one, path in told], indent=2))
    else:
        click.echo("\n".join(line for one, path in told for line in described(one, path)))


def _print(imports: Imports) -> None:
    """One session as a document, several as JSON lines; the report goes to standard error."""
    from perfq.trajectory.imported import described

    alone = len(imports.sessions) == 1
    for one in imports.sessions:
        click.echo(one.trajectory.to_json() if alone else one.trajectory.to_line(), nl=False)
    told: list[Imported | Lost] = [*imports.sessions, *imports.lost]
    click.echo("\n".join(line for one in told for line in described(one, None)), err=True)
