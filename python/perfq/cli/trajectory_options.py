"""Options that the commands which replay sessions share."""

from __future__ import annotations

import click

from perfq.cli import options as shared

profile_argument = click.argument(
    "file", type=click.Path(exists=False), metavar="[PROFILE]", required=False, default=None
)

allow_option = click.option(
    "--allow-local-exec",
    is_flag=True,
    help="Run the scripts of imported sessions on this machine, as you. Read them first.",
)

input_options = shared.together(shared.set_option, shared.seed_option, allow_option)
