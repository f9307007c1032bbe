"""`perfq load`: request load and request replay."""

from __future__ import annotations

import click

from perfq.cli import LazyGroup

#: command → module:attribute, short help.
COMMANDS: dict[str, tuple[str, str]] = {
    "run": ("perfq.cli.load_run:run", "Send it, measure it, judge it."),
    "check": ("perfq.cli.load_check:check", "Validate an input and print its plan; nothing is sent."),
    "import": ("perfq.cli.load_import:import_", "Make a trace of audit logs."),
    "plan": ("perfq.cli.load_plan:plan", "Count the requests of each runner, and the hottest keys."),
    "search": ("perfq.cli.load_search:search", "Find the highest rate that holds the budgets."),
    "convert": ("perfq.cli.load_convert:convert", "Make a trace of a replay profile of kperf."),
}

EPILOG = """
Examples:

\b
  perfq load check loads/mix.yaml
  perfq load run loads/mix.yaml --preset k8s-slo
  perfq load run loads/mix.yaml --context kind-test --kperf-result result.json
"""


@click.group(cls=LazyGroup, lazily=COMMANDS, epilog=EPILOG)
def load() -> None:
    """Puts request load on an API server, or replays recorded requests, on an open-loop schedule.

    FILE is told by its content: a load profile or runner group of kperf, a replay profile of kperf, a perfq trace.
    The target is the embedded server, or a server on this machine that --context names.
    """
