"""The command line. Each command lives in a file of its own and is imported when it is called."""

from __future__ import annotations

import atexit
import errno
import gc
import importlib
import os
import select
import signal
import sys
import threading
import traceback
from typing import Any, NoReturn

import click

import perfq
from perfq.cli.nearest import did_you_mean
from perfq.errors import EXIT_CODES, PerfqError

#: command → module:attribute, short help. Listed here so that `perfq --help` imports click alone.
COMMANDS: dict[str, tuple[str, str]] = {
    "profile": ("perfq.cli.profile:profile", "List, show and validate workload profiles."),
    "schema": ("perfq.cli.schema:schema", "Print the JSON Schema of a document."),
    "plan": ("perfq.cli.plan:plan", "Resolve a profile: counts, rates, hashes, canonical text."),
    "serve": ("perfq.cli.serve:serve", "Run the embedded Kubernetes API server."),
    "view": ("perfq.cli.view:view", "Look at a cluster with the reference client."),
    "replay": ("perfq.cli.replay:replay", "Qualify a client on a workload."),
    "load": ("perfq.cli.load:load", "Put request load on an API server, or replay recorded requests."),
    "trajectory": ("perfq.cli.trajectory:trajectory", "Replay recorded sessions of commands and waits; import them."),
    "client": ("perfq.cli.client:client", "List, show and check client definitions."),
    "report": ("perfq.cli.report:report", "Render a result again."),
    "runs": ("perfq.cli.runs:runs", "List, show and remove runs."),
}
ISSUES = "https://github.com/perfq/perfq/issues"

EPILOG = f"""
Examples:

\b
  perfq replay smoke-1k                     a first run, on the embedded server
  perfq plan burst-50k                      what a profile comes to
  perfq COMMAND --help                      examples of each command

\b
Every flag can be given as a variable: PERFQ_<COMMAND>_<FLAG>, such as PERFQ_REPLAY_OUT.
Shell completion: eval "$(_PERFQ_COMPLETE=bash_source perfq)" (or zsh_source, fish_source).

Exit codes: {", ".join(f"{code} {name}" for code, (name, _) in EXIT_CODES.items())}.
"""


class Group(click.Group):
    """A group that suggests the command that was meant."""

    def resolve_command(self, ctx: click.Context, args: list[str]) -> Any:
        """As click does it, with the nearest command named where there is none of that name."""
        name = args[0] if args else ""
        if name and not name.startswith("-") and self.get_command(ctx, name) is None:
            raise click.UsageError(f"No such command {name!r}.{did_you_mean(name, self.list_commands(ctx))}", ctx)
        return super().resolve_command(ctx, args)


class LazyGroup(Group):
    """A group whose commands are imported when they are called.

    `lazily` has them all: name → module:attribute, short help, so that its own help imports none.
    """

    def __init__(self, *args: Any, lazily: dict[str, tuple[str, str]], **attributes: Any) -> None:
        super().__init__(*args, **attributes)
        self.lazily = lazily
        #: Of the variables of its commands' flags.
        self.prefix = "PERFQ"

    def list_commands(self, ctx: click.Context) -> list[str]:
        """In the order of the table."""
        return list(self.lazily)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Imports it."""
        entry = self.lazily.get(cmd_name)
        if entry is None:
            return None
        module, attribute = entry[0].split(":")
        command: click.Command = getattr(importlib.import_module(module), attribute)
        name_variables(command, f"{self.prefix}_{cmd_name}")
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """From the table, without importing any."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, help_text) for name, (_, help_text) in self.lazily.items()])


class TopGroup(LazyGroup):
    """The top of the command line."""

    def invoke(self, ctx: click.Context) -> Any:
        """click makes every EPIPE an exit code of 1, and our own sockets' as well; `main` tells them apart."""
        try:
            return super().invoke(ctx)
        except BrokenPipeError as error:
            raise _Pipe(error) from error


def name_variables(command: click.Command, prefix: str) -> None:
    """Gives each flag its variable, named as the flag is: `perfq plan --set` reads PERFQ_PLAN_SET."""
    for option in command.params:
        if isinstance(option, click.Option):
            flag = max(option.opts, key=len).lstrip("-")
            option.envvar = f"{prefix}_{flag}".upper().replace("-", "_")
    if isinstance(command, LazyGroup):
        command.prefix = prefix
    elif isinstance(command, click.Group):
        for name, below in command.commands.items():
            name_variables(below, f"{prefix}_{name}")


class _Pipe(Exception):
    """A BrokenPipeError on its way past click."""


@click.group(
    cls=TopGroup,
    lazily=COMMANDS,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog=EPILOG,
)
@click.option("--version", is_flag=True, help="Print the version and exit; with --json also commit and build.")
@click.option("--json", "as_json", is_flag=True, help="With --version: as JSON.")
@click.pass_context
def cli(ctx: click.Context, version: bool, as_json: bool) -> None:
    """Qualify the performance of Kubernetes clients and control planes."""
    if version and as_json:
        import json

        from perfq.measure.build_info import build_info

        click.echo(json.dumps(build_info()))
    elif version:
        click.echo(f"perfq {perfq.__version__}")
    elif as_json:
        raise click.UsageError("--json goes with --version here; commands have one of their own, after their name.")
    elif ctx.invoked_subcommand is None:
        click.echo(ctx.get_help(), err=True)
        ctx.exit(2)
    if version:
        ctx.exit(0)


def program() -> NoReturn:
    """`perfq` itself: `main` in a process of its own, which is not taken apart object by object when it ends.

    That would take a sixth of the CPU time of a short load, and the system takes all of it back at once.
    """
    try:
        main()
    except SystemExit as end:
        waited_for = [one for one in threading.enumerate() if not (one.daemon or one is threading.current_thread())]
        if not isinstance(end.code, int) or waited_for:
            raise
        atexit._run_exitfuncs()
        try:
            for stream in (sys.stdout, sys.stderr):
                if stream is not None:
                    stream.flush()
        except (OSError, ValueError):
            raise end from None
        os._exit(end.code)


def main() -> NoReturn:
    """Runs the command line and exits with its documented code."""
    if sys.stdout is None:
        click.echo("perfq: standard output is closed; send it to a file or to /dev/null", err=True)
        sys.exit(2)
    # Modules and models are some 50,000 objects that all stay: at Python's own pace the collector goes over them a
    # hundred times before a command begins, and here not once.
    gc.set_threshold(100_000, 20, 50)
    try:
        code = cli.main(prog_name="perfq", standalone_mode=False)
        sys.stdout.flush()
    except PerfqError as error:
        click.echo(f"perfq: {error}", err=True)
        sys.exit(error.exit_code)
    except click.ClickException as error:
        error.show()
        sys.exit(2)
    except (click.Abort, KeyboardInterrupt):
        sys.exit(130)
    except Exception as error:
        _fail(error)
    sys.exit(code if isinstance(code, int) else 0)


def _fail(error: Exception) -> NoReturn:
    """What is neither the user's mistake nor a verdict: a closed pipe or a full disk, else a bug of ours."""
    if isinstance(error, (_Pipe, BrokenPipeError)) and _reader_is_gone():
        _drop_stdout()
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGPIPE)  # as `cat` ends; a shell shows 141
    if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
        click.echo(f"perfq: cannot write: {os.strerror(error.errno)}; make room and try again", err=True)
        _drop_stdout()
        sys.exit(2)
    click.echo("".join(traceback.format_exception(error)), err=True, nl=False)
    click.echo(
        f"perfq: this is a bug of perfq, not yours. Please report it at {ISSUES} with the lines above and what "
        "`perfq --version --json` prints.",
        err=True,
    )
    _drop_stdout()
    sys.exit(1)


def _reader_is_gone() -> bool:
    poll = select.poll()
    poll.register(1, 0)
    return any(flags & (select.POLLERR | select.POLLHUP) for _, flags in poll.poll(0))


def _drop_stdout() -> None:
    """So that the interpreter does not try to flush it once more."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
