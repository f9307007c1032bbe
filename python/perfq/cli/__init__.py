"""The command line. Each command lives in a file of its own and is imported when it is called."""

from __future__ import annotations

import importlib
import sys
from typing import Any

import click

import perfq
from perfq.errors import PerfqError

#: command → module:attribute, short help. Listed here so that `perfq --help` imports click alone.
COMMANDS: dict[str, tuple[str, str]] = {
    "profile": ("perfq.cli.profile:profile", "List, show and validate workload profiles."),
    "schema": ("perfq.cli.schema:schema", "Print the JSON Schema of a document."),
    "plan": ("perfq.cli.plan:plan", "Resolve a profile: counts, rates, hashes, canonical text."),
    "serve": ("perfq.cli.serve:serve", "Run the embedded Kubernetes API server."),
    "view": ("perfq.cli.view:view", "Look at a cluster with the reference client."),
    "replay": ("perfq.cli.replay:replay", "Qualify a client on a workload."),
    "client": ("perfq.cli.client:client", "List and check client definitions."),
    "report": ("perfq.cli.report:report", "Render a result again."),
}


class LazyGroup(click.Group):
    """A group whose commands are imported when they are called, with near misses suggested."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        entry = COMMANDS.get(cmd_name)
        if entry is None:
            return None
        module, attribute = entry[0].split(":")
        command: click.Command = getattr(importlib.import_module(module), attribute)
        return command

    def resolve_command(self, ctx: click.Context, args: list[str]) -> Any:
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError as error:
            import difflib

            near = difflib.get_close_matches(args[0], COMMANDS, n=1)
            if near:
                raise click.UsageError(f"No such command {args[0]!r}. Did you mean {near[0]!r}?", ctx) from error
            raise

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, help_text) for name, (_, help_text) in COMMANDS.items()])


@click.group(cls=LazyGroup, context_settings={"auto_envvar_prefix": "PERFQ", "help_option_names": ["-h", "--help"]})
@click.version_option(perfq.__version__, prog_name="perfq", message="%(prog)s %(version)s")
def cli() -> None:
    """Qualify the performance of Kubernetes clients and control planes."""


def main() -> None:
    """Runs the command line and exits with its documented code."""
    try:
        code = cli.main(standalone_mode=False)
    except PerfqError as error:
        click.echo(f"perfq: {error}", err=True)
        sys.exit(error.exit_code)
    except click.ClickException as error:
        error.show()
        sys.exit(2)
    except click.Abort:
        sys.exit(130)
    sys.exit(code if isinstance(code, int) else 0)
