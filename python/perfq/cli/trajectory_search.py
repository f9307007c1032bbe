"""`perfq trajectory search`: how many sessions fit."""

from __future__ import annotations

import sys
from typing import Any

import click

from perfq.cli import options as shared
from perfq.cli import trajectory_options

EPILOG = """
Examples:

\b
  perfq trajectory search --hi 40 --budget 'trajectory.exec_ns_mean<=200ms'
  perfq trajectory search agents.yaml --lo 10 --hi 200 --budget 'trajectory.exec_ns_mean<=90s' \\
      --set admission.budget_bytes=51539607552
"""


@click.command(epilog=EPILOG)
@trajectory_options.profile_argument
@click.option(
    "--lo",
    type=click.IntRange(1, 1_000_000),
    default=1,
    show_default=True,
    metavar="N",
    help="Nothing lower is asked for.",
)
@click.option(
    "--hi", type=click.IntRange(1, 1_000_000), required=True, metavar="N", help="Nothing higher is ever asked for."
)
@shared.search_options("5%")
@trajectory_options.input_options
@shared.place_options
@shared.budget_options
@shared.session_stop_options
def search(file: str | None, **given: Any) -> int:
    """Bisects the number of sessions at once, between --lo and --hi, and confirms what it finds.

    The sessions of PROFILE are taken over and over until there are N; all arrive at the start, at the profile's pace of
    starts. N holds where all of them really ran at once and all budgets are met (without any: no command ran into its
    timeout). Where the harness had no room beside so many, twice, they do not fit either. Without PROFILE the small
    built-in one is taken.
    """
    from perfq.trajectory.command import TrajectoryRequest
    from perfq.trajectory.search import SearchRequest, search_request

    own = {name: given.pop(name) for name in ("lo", "hi", "tolerance", "confirmations")}
    return search_request(SearchRequest(TrajectoryRequest(file=file, given=given, argv=tuple(sys.argv)), **own))
