"""The pages of the command line, from the commands themselves: usage, flags, examples."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator

import click
from docs.reference.tables import row, rows

from perfq import cli


def command_pages() -> Iterator[tuple[str, str]]:
    """One page a command, and their index."""
    context = click.Context(cli.cli, info_name="perfq")
    index = []
    for name, (target, short) in cli.COMMANDS.items():
        if importlib.util.find_spec(target.split(":")[0]) is None:
            continue
        command = cli.cli.get_command(context, name)
        assert command is not None
        index.append(row(f"[`perfq {name}`]({name}.md)", short))
        yield f"{name}.md", "\n\n".join(command_sections(command, f"perfq {name}", "#"))
    text = f"""# The command line

{rows(("command", "what it does"), index)}

Results go to standard output, all else to standard error. Every flag can be given as a variable:
`PERFQ_<COMMAND>_<FLAG>`, several values of one separated by blanks. Durations, rates and bytes take
units: `250ms`, `1k/s`, `512MiB`. Exit codes: [exit-codes.md](../exit-codes.md). Shell completion:
`eval "$(_PERFQ_COMPLETE=bash_source perfq)"`, or `zsh_source`, `fish_source`.
"""
    yield "README.md", text


def command_sections(command: click.Command, words: str, mark: str) -> Iterator[str]:
    """A command's usage, flags and examples; then those of the commands below it."""
    context = click.Context(command, info_name=words)
    yield f"{mark} {words}"
    yield f"```\n{command.get_usage(context).removeprefix('Usage: ')}\n```"
    yield _paragraphs(command.help or "")
    options = [param for param in command.params if isinstance(param, click.Option)]
    if options:
        yield rows(("flag", "variable", "default", "meaning"), [_option(option, context) for option in options])
    if command.epilog:
        yield _examples(command.epilog)
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            below = command.get_command(context, name)
            assert below is not None
            yield from command_sections(below, f"{words} {name}", mark + "#")


def _option(option: click.Option, context: click.Context) -> str:
    record = option.get_help_record(context)
    flag = record[0] if record else option.opts[0]
    default = option.to_info_dict()["default"]
    shown = (
        "" if option.multiple or default in (None, False, ()) or "UNSET" in repr(default).upper() else f"`{default}`"
    )
    return row(f"`{flag}`", f"`{option.envvar}`", shown, option.help or "")


def _paragraphs(text: str) -> str:
    return "\n".join(line.strip() for line in text.replace("\b", "").strip().splitlines())


def _examples(epilog: str) -> str:
    lines = [line.rstrip() for line in epilog.replace("\b", "").splitlines()]
    commands = [line.strip() for line in lines if line.startswith("  ")]
    prose = [line for line in lines if line and not line.startswith("  ") and not line.startswith("Example")]
    text = "Examples:\n\n```\n" + "\n".join(commands) + "\n```"
    return "\n\n".join([text, *(["\n".join(prose)] if prose else [])])
