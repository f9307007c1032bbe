"""`perfq replay`: qualify a client on a workload."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

from perfq.cli import options as shared

EPILOG = """
Examples:

\b
  perfq replay smoke-1k
  perfq replay smoke-1k --preset client-1k --out runs/before
  perfq replay steady-10k --repeat 3 --budget 'latency.event_to_screen.p95<=250ms'
  perfq replay smoke-1k -- kubectl get pods -A -w
"""


@click.command(epilog=EPILOG)
@shared.profile_argument
@click.argument("command", nargs=-1, type=click.UNPROCESSED)
@click.option(
    "--client",
    "client_name",
    type=shared.CLIENT,
    metavar="NAME",
    help="A built-in client definition (default: viewer).",
)
@click.option("--client-file", type=click.Path(path_type=Path), metavar="FILE", help="A client definition of your own.")
@shared.plan_options
@shared.run_options
@shared.budget_options
@click.option("--pairs", type=click.IntRange(0, 10_000), default=50, show_default=True, help="Down/up key pairs.")
@click.option("--probes", type=click.IntRange(0, 10_000), default=40, show_default=True, help="Probe events.")
@click.option(
    "--pod-bytes", type=shared.POD_BYTES, default=0, metavar="BYTES", help="Pad each Pod's JSON up to this size."
)
@click.option("--size", default="160x50", show_default=True, metavar="COLSxROWS", help="Size of the terminal.")
@click.option(
    "--ready-timeout",
    type=shared.SECONDS,
    default="30s",
    show_default=True,
    metavar="TIME",
    help="Until the client is ready.",
)
@click.option(
    "--cpu-profile", is_flag=True, help="Sample a Python client's CPU with py-spy: cpu-profile.speedscope.json."
)
@click.option("--scenarios/--no-scenarios", default=True, help="Walk the client's scenarios after the churn.")
@click.option(
    "--allocations",
    is_flag=True,
    help="Run once more, into DIR/allocations, tracing where a Python client's memory grows.",
)
@shared.stop_options
def replay(profile: str, command: tuple[str, ...], **given: Any) -> int:
    """Replays a workload PROFILE through the embedded API server and a real client, and judges it.

    The client is --client NAME (viewer, watch, kubectl-watch), or any COMMAND after `--`; with both, COMMAND is
    started, and read as the definition NAME says.
    """
    from perfq.replay.command import ReplayRequest, run_request

    request = ReplayRequest(
        profile=profile,
        command=command,
        given=given,
        argv=tuple(sys.argv),
    )
    return run_request(request)
