"""`perfq load run`: send it, measure it, judge it."""

from __future__ import annotations

import sys
from typing import Any

import click

from perfq.cli import load_options
from perfq.cli import options as shared

EPILOG = """
Examples:

\b
  perfq load run loads/mix.yaml
  perfq load run loads/mix.yaml --budget 'latency.response.p99<=200ms' --out runs/before
  perfq load run group.yaml --context kind-test --stop-error-share 5%
"""


@click.command(epilog=EPILOG)
@load_options.file_argument
@load_options.input_options
@load_options.engine_options
@shared.run_options
@shared.budget_options
@click.option("--raw-data", is_flag=True, help="Keep every sample: raw.ndjson.zst in the run directory.")
@click.option(
    "--kperf-result",
    type=click.Path(),
    metavar="FILE",
    help="Write the figures in the form of kperf's own result, too; with --repeat, to FILE-1, FILE-2, …",
)
@click.option(
    "--server-metrics", is_flag=True, help="Read the target's own /metrics before and after, beside our figures."
)
@shared.stop_options
def run(file: str, **given: Any) -> int:
    """Sends the requests of FILE on their schedule, each when it is due whatever became of the last, and judges them.

    Without --context the target is the embedded server, in the same process.
    """
    from perfq.load.command import LoadRequest, run_request

    return run_request(LoadRequest(file=file, given=given, argv=tuple(sys.argv)))
