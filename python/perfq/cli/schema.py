"""`perfq schema`: the JSON Schema of what perfq reads and writes."""

from __future__ import annotations

import importlib
import json
from typing import Any

import click

from perfq.cli.nearest import did_you_mean
from perfq.cli.options import Completed

EPILOG = """
Examples:

\b
  perfq schema profile
  perfq schema result > result.schema.json
"""

#: name → module:attribute (a model, or a function that gives the schema's text), what it is the schema of.
SCHEMAS: dict[str, tuple[str, str]] = {
    "profile": ("perfq.profile.workload_model:Profile", "a workload profile"),
    "load-profile": ("perfq.profile.load.profile:LoadProfile", "a load profile, kperf's with perfq's own fields"),
    "runner-group": ("perfq.profile.load.profile:RunnerGroup", "a runner group of kperf"),
    "trajectory": ("perfq.profile.trajectory.trajectory:Trajectory", "a recorded session of commands and waits"),
    "trajectory-profile": (
        "perfq.profile.trajectory.profile:TrajectoryProfile",
        "how recorded sessions are replayed",
    ),
    "budgets": ("perfq.profile.budget_file:BudgetFile", "budgets.yaml"),
    "client": ("perfq.profile.client:ClientDefinition", "a client definition"),
    "plan": ("perfq.profile.workload_model:PlanDocument", "what `perfq plan --json` prints; a run's plan.json"),
    "result": ("perfq.measure.result.schema:shipped", "a run's result.json"),
}


def schema_text(name: str) -> str:
    """The JSON Schema (2020-12) of that name, as text. KeyError for an unknown one."""
    module, attribute = SCHEMAS[name][0].split(":")
    found: Any = getattr(importlib.import_module(module), attribute)
    if not isinstance(found, type):
        shipped: str = found()
        return shipped.rstrip("\n")
    schema = found.model_json_schema(by_alias=True)  # type: ignore[attr-defined]
    dialect = {"$schema": "https://json-schema.org/draft/2020-12/schema"}
    return json.dumps({**dialect, **schema}, indent=2, ensure_ascii=False)


@click.command(epilog=EPILOG)
@click.argument("name", required=False, metavar="[NAME]", type=Completed("NAME", lambda: SCHEMAS))
def schema(name: str | None) -> None:
    """Prints the JSON Schema of a document; without NAME, the names there are."""
    if name is None:
        for each, (_, what) in SCHEMAS.items():
            click.echo(f"{each:<20}{what}")
        return
    if name not in SCHEMAS:
        raise click.UsageError(f"No schema {name!r}; there is {', '.join(SCHEMAS)}.{did_you_mean(name, SCHEMAS)}")
    click.echo(schema_text(name))
