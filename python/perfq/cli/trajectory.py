"""`perfq trajectory`: recorded sessions of commands and waits."""

from __future__ import annotations

import click

from perfq.cli import LazyGroup

#: command → module:attribute, short help.
COMMANDS: dict[str, tuple[str, str]] = {
    "run": ("perfq.cli.trajectory_run:run", "Replay sessions, measure them, judge them."),
    "ab": ("perfq.cli.trajectory_ab:ab", "Run a profile in two or three ways, interleaved."),
    "search": ("perfq.cli.trajectory_search:search", "Find the largest number of sessions that fits."),
    "report": ("perfq.cli.trajectory_report:report", "Render runs again, several side by side."),
    "validate": ("perfq.cli.trajectory_validate:validate", "Check sessions and profiles; nothing is run."),
    "import": ("perfq.cli.trajectory_import:import_", "Make sessions of what other programs recorded."),
}

EPILOG = """
Examples:

\b
  perfq trajectory run
  perfq trajectory import runs/*.traj.json --out sessions
  perfq trajectory search agents.yaml --hi 200 --budget 'trajectory.exec_ns_mean<=90s'
  perfq trajectory validate agents.yaml
"""


@click.group(cls=LazyGroup, lazily=COMMANDS, epilog=EPILOG)
def trajectory() -> None:
    """Replays recorded sessions, many at once, to find out how many fit on a machine.

    A session is a list of commands and of the waits between them: a model thinking, a person reading. A profile says
    which sessions are replayed, when each arrives, and in what.
    """
