"""`perfq load search`: the highest rate that holds the budgets."""

from __future__ import annotations

import sys
from typing import Any

import click

from perfq.cli import load_options
from perfq.cli import options as shared

EPILOG = """
Examples:

\b
  perfq load search loads/mix.yaml --lo 100/s --hi 2k/s
  perfq load search loads/mix.yaml --lo 100/s --hi 2k/s --budget 'latency.response.p99<=200ms' --context kind-test
"""


@click.command(epilog=EPILOG)
@load_options.file_argument
@click.option("--lo", type=shared.RATE, required=True, metavar="RATE", help="Nothing lower is asked for.")
@click.option("--hi", type=shared.RATE, required=True, metavar="RATE", help="Nothing higher is ever asked for.")
@click.option(
    "--step",
    "duration",
    type=shared.WHOLE_SECONDS,
    default="10s",
    show_default=True,
    metavar="TIME",
    help="How long each rate is tried.",
)
@shared.search_options("2%")
@load_options.input_options
@load_options.engine_options
@shared.place_options
@shared.budget_options
@shared.stop_options
def search(file: str, **given: Any) -> int:
    """Bisects the rate of FILE, a load profile with one spec, between --lo and --hi, and confirms what it finds.

    A rate holds where all budgets do, where at most 1 % of the requests fail (unless a budget on load.error_share says
    how many may), where it is reached, and where answers come as fast as requests go. Rates are of all runners
    together; --max-time is of the whole search.
    """
    from perfq.load.command import LoadRequest
    from perfq.load.search import SearchRequest, search_request

    own = {name: given.pop(name) for name in ("lo", "hi", "duration", "tolerance", "confirmations")}
    given |= {"raw_data": False, "kperf_result": None, "repeat": 1, "server_metrics": False}
    return search_request(
        SearchRequest(
            load=LoadRequest(file=file, given=given, argv=tuple(sys.argv)),
            lo=own["lo"],
            hi=own["hi"],
            duration_s=own["duration"],
            tolerance=own["tolerance"],
            confirmations=own["confirmations"],
        )
    )
