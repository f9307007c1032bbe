"""`perfq trajectory ab`: ways to run one profile, interleaved."""

from __future__ import annotations

import sys
from typing import Any

import click

from perfq.cli import options as shared
from perfq.cli import trajectory_options

EPILOG = """
Examples:

\b
  perfq trajectory ab agents.yaml --arm sampling.mode=isolated --arm sampling.mode=off
  perfq trajectory ab agents.yaml --set sampling.inject_read_delay_ms=30 \\
      --arm sampling.mode=isolated --arm sampling.mode=inline --arm sampling.mode=off
"""


@click.command(epilog=EPILOG)
@trajectory_options.profile_argument
@click.option(
    "--arm",
    "arms",
    multiple=True,
    required=True,
    metavar="KEY=VALUE[,…]",
    help="A way to run the profile: what it changes, as --set does. Two or three.",
)
@click.option(
    "--rounds",
    type=click.IntRange(1, 1000),
    default=3,
    show_default=True,
    metavar="N",
    help="How often each arm is run.",
)
@trajectory_options.input_options
@shared.place_options
@shared.budget_options
@shared.session_stop_options
def ab(file: str | None, arms: tuple[str, ...], rounds: int, **given: Any) -> int:
    """Runs PROFILE in two or three ways, each once in every round, in a seeded order, and puts their medians side by
    side: a slow drift of the machine meets all of them.

    The exit code is 0 whatever the verdicts of the runs are, unless one was aborted or left something behind: an arm
    that is invalid may be what was to be seen. Without PROFILE the small built-in one is run.
    """
    from perfq.trajectory.ab import AbRequest, Arm, ab_request
    from perfq.trajectory.command import TrajectoryRequest

    request = TrajectoryRequest(file=file, given=given, argv=tuple(sys.argv))
    return ab_request(AbRequest(run=request, arms=[Arm.of(text) for text in arms], rounds=rounds))
