"""`perfq load import`: audit logs become a trace."""

from __future__ import annotations

import json
from typing import Any

import click

from perfq.cli import options as shared
from perfq.cli.table import table

EPILOG = """
Examples:

\b
  perfq load import audit*.log* --out trace.zst --skip-user system:apiserver
  perfq load import audit.log --out trace.zst --without-body synthetic --hash-names
  perfq load import audit.log --out noon.zst --since 2024-05-01T12:00:00Z --until 2024-05-01T12:15:00Z

Then perfq load check trace.zst, and perfq load run trace.zst.
"""


@click.command("import", epilog=EPILOG)
@click.argument("logs", metavar="LOG...", nargs=-1, required=True, type=click.Path())
@click.option(
    "--out",
    metavar="TRACE",
    required=True,
    type=click.Path(),
    help="The trace to write, packed as its name ends: .zst, .gz, else plain. Must not exist yet.",
)
@click.option(
    "--without-body",
    type=click.Choice(["drop", "synthetic"]),
    default="drop",
    show_default=True,
    help="Writes whose body is not in the log (level Metadata) or secret are left out, or get a made-up body.",
)
@click.option("--hash-names", is_flag=True, help="Replace names of objects and namespaces by digests.")
@click.option("--since", metavar="TIME", help="T0, such as 2024-05-01T12:00:00Z (default: the log's first request).")
@click.option("--until", metavar="TIME", help="The end (default: the log's).")
@click.option(
    "--skip-user",
    "skip_users",
    metavar="NAME",
    multiple=True,
    help="Leave out requests of this user; NAME may end in *. May be repeated.",
)
@click.option(
    "--only-user",
    "only_users",
    metavar="NAME",
    multiple=True,
    help="Take requests of this user alone; NAME may end in *. May be repeated.",
)
@click.option(
    "--keep-query",
    metavar="KEY",
    multiple=True,
    help="Keep a query parameter that Kubernetes does not know; others are removed. May be repeated.",
)
@click.option(
    "--memory",
    type=shared.BYTES,
    default="64MiB",
    show_default=True,
    metavar="BYTES",
    help="Sort so much in memory; the rest goes to temporary files beside TRACE.",
)
@shared.json_option
@shared.quiet_option
def import_(logs: tuple[str, ...], out: str, as_json: bool, quiet: bool, memory: float, **given: Any) -> None:
    """Makes a trace of audit logs (audit.k8s.io/v1, JSON lines), for perfq load run.

    LOG is a file, plain, .gz or .zst, or - for standard input. All rotated files of a log and the logs of several
    servers may be given, in any order. No user, token, secret or source address reaches the trace, and all that was
    lost stands in its header.
    """
    from perfq.drive.progress import Progress
    from perfq.load import imported as imports

    options = {name: list(value) if isinstance(value, tuple) else value for name, value in given.items()}
    imported = imports.import_log(logs, out, {**options, "memory_bytes": int(memory)}, Progress(quiet=quiet))
    if as_json:
        click.echo(json.dumps(imported, indent=2))
        return
    click.echo("\n".join(f"{name:<12}{value}" for name, value in imports.described(imported, out)))
    for title, rows in (
        ("Not in the trace", imports.lost_rows(imported)),
        ("In the trace, but not as it was sent", imports.changed_rows(imported)),
    ):
        if rows:
            click.echo("\n".join([f"\n{title}:", *table(imports.HEADER, rows)]))
