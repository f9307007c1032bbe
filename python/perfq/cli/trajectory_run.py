"""`perfq trajectory run`: replay sessions, measure them, judge them."""

from __future__ import annotations

import sys
from typing import Any

import click

from perfq.cli import options as shared
from perfq.cli import trajectory_options

EPILOG = """
Examples:

\b
  perfq trajectory run
  perfq trajectory run agents.yaml --budget 'trajectory.extra_wait_ns.mean<=50ms'
  perfq trajectory run agents.yaml --set sampling.mode=off --repeat 3 --out runs/off
"""


@click.command(epilog=EPILOG)
@trajectory_options.profile_argument
@trajectory_options.input_options
@shared.run_options
@shared.budget_options
@shared.session_stop_options
def run(file: str | None, **given: Any) -> int:
    """Replays the sessions that PROFILE names, each from its own arrival on, and judges how they and the harness fared.

    Without PROFILE a small built-in one is replayed, in about six seconds; its commands are the project's own. On the
    backend local, sessions that were imported run only with --allow-local-exec: they hold other people's scripts, and
    nothing keeps those in their workspaces.
    """
    from perfq.trajectory.command import TrajectoryRequest, run_request

    return run_request(TrajectoryRequest(file=file, given=given, argv=tuple(sys.argv)))
