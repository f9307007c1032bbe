"""Writes the parts of docs/reference that come from the code. `scripts/docs` runs it; a test compares.

python docs/reference/generate.py           writes the files
python docs/reference/generate.py --check   exit 1 where one differs
"""

from __future__ import annotations

import importlib
import importlib.util
import json
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import click

HERE = Path(__file__).parent
NOTE = "<!-- Made from the code by scripts/docs. Change the code, not this file. -->\n"


def pages() -> dict[str, str]:
    """File name → text of every generated page."""
    made = {
        "exit-codes.md": exit_codes(),
        "profile.md": profiles(),
        "budgets.md": budgets(),
        "metrics.md": metrics(),
        "plan.md": model_page("perfq.plan/v1", "plan", "What `perfq plan P --json` prints, and a run's `plan.json`."),
        "client-definition.md": model_page(
            "perfq.client/v1", "client", "What differs between one program in a terminal and another."
        ),
        **{f"cli/{name}": text for name, text in command_pages()},
    }
    return {name: f"{NOTE}\n{text.strip()}\n" for name, text in made.items()}


def row(*cells: object) -> str:
    """A line of a Markdown table."""
    return "| " + " | ".join(str(cell).replace("|", "\\|").replace("\n", " ") for cell in cells) + " |"


def rows(header: tuple[str, ...], lines: list[str]) -> str:
    """A Markdown table."""
    return "\n".join([row(*header), "|" + "---|" * len(header), *lines])


def exit_codes() -> str:
    """From perfq.errors."""
    from perfq.errors import EXIT_CODES, PRECEDENCE

    table = rows(("code", "name", "meaning"), [row(code, *meaning) for code, meaning in EXIT_CODES.items()])
    order = ", ".join(str(code) for code in PRECEDENCE)
    return f"""# Exit codes

{table}

Where several hold, the first of these is the exit code: {order}. 2 stands alone: it is found before
anything starts. `serve` that a signal ended and `report`, whatever verdict it renders, are 0. A command
whose reader left (`perfq plan P --emit events | head`) ends by SIGPIPE as other programs do: 141 in a shell.

A traceback is a bug of perfq (1), and says so; every other error is one sentence, with details under it.
"""


def profiles() -> str:
    """The profile's fields and the built-in profiles."""
    from perfq.profile.builtin_ids import BUILTIN_IDS
    from perfq.profile.workload import resolve_profile

    built_in = [resolve_profile(name) for name in BUILTIN_IDS]
    table = rows(
        ("id", "Pods", "namespaces", "events/s", "seconds", "bursts (start+length@rate)", "failures (@event)"),
        [
            row(
                f"`{one.id}`",
                f"{one.object_count:,}",
                one.namespace_count,
                one.steady_events_per_second,
                f"{one.duration_seconds:,}",
                " ".join(f"{b.start_second}+{b.duration_seconds}@{b.events_per_second}" for b in one.bursts),
                " ".join(f"{failure.kind}@{failure.at_event}" for failure in one.failures),
            )
            for one in built_in
        ],
    )
    return f"""# Workload profiles

A profile says how many Pods there are and how they change. It is JSON or YAML (1.2 core; no aliases,
no tags), at most 1 MiB. Where a command takes a PROFILE, it is the id of a built-in one, else a path, `-`
for standard input.

{fields("profile")}

Rules between fields: `object_count` is a multiple of `namespace_count`; bursts lie within the duration
and do not overlap; each failure has an event of its own, within the plan; a plan has at most 10,000,000
events. `--set KEY=JSON` (such as `bursts.0.start_second=3`), `--seed` and `--duration` change a profile
before its rules are checked.

Every error is named at once, one a line: `FILE:LINE: KEY: got VALUE, expected …`, with the flag in place
of file and line where a flag set the value. `perfq profile validate` checks without running anything.

## Built in

{table}
"""


def budgets() -> str:
    """budgets.yaml, operators, units, presets."""
    from perfq.profile.budget_file import preset
    from perfq.profile.budgets import OPERATORS, PRESETS
    from perfq.profile.budgets import unit_of as unit

    examples = [
        ("ns", "latencies, `…_ns`", "`<=250ms`"),
        ("bytes", "`…_bytes`", "`<=512MiB`"),
        ("bytes/min", "`…_bytes_per_min`", "`<=1MiB/min`"),
        ("/s", "`…_rate`", "`>=9.9k/s`"),
        ("percent", "`…percent…`", "`<=85%`; 100 is one CPU"),
        ("s", "`…_seconds`", "`<=90s`"),
        ("bool", "`match`, `shown`, `closed`", "`==true`"),
        ("count", "all others", "`==0`, `<=10k`"),
    ]
    assert unit("latency.input.p95") == "ns"
    parts = [
        f"""# Budgets

A budget is a [metric](metrics.md), an operator and a limit: `--budget 'latency.input.p95<=100ms'`. A
`--budget` without an operator is a file (`perfq.budgets/v1`), `--preset NAME` a ready-made one. Budgets
are parsed before a run starts; what does not parse, or names no metric, is exit code 2.

Operators: {" ".join(f"`{sign}`" for sign in OPERATORS)}. A limit without a unit is in that of its metric:

{rows(("unit", "of metrics", "limits"), [row(*example) for example in examples])}

A metric that is a list (`replay.backlog.drain_ns`) holds when each of its items does. Each budget ends as
*met*, *missed* (exit code 3), *not applicable* (this plan or this kind of client cannot have it) or *not
measurable* (it should have been there: the run is INVALID, exit code 4).

## budgets.yaml

{fields("budgets")}

## Presets
"""
    ]
    for name, whom in PRESETS.items():
        lines = [
            row(f"`{one.metric}`", f"`{one.operator} {one.text.split(' ', 2)[2]}`", _conditions(one), one.rationale)
            for one in preset(name)
        ]
        parts.append(f"### {name}\n\nFor {whom}.\n\n{rows(('metric', 'limit', 'where', 'why'), lines)}\n")
    return "\n".join(parts)


def _conditions(budget: Any) -> str:
    said = [f"{budget.phase} phases" if budget.phase else ""]
    said += [f"of at least {budget.min_rate} events/s" if budget.min_rate else ""]
    said += [f"bursts of at most {budget.max_rate} events/s" if budget.max_rate else ""]
    said += [f"runs of at least {budget.min_duration // 60} min" if budget.min_duration else ""]
    said += [f"needs {', '.join(need.replace('_', ' ') for need in budget.needs)}" if budget.needs else ""]
    return ", ".join(part for part in said if part)


def metrics() -> str:
    """Metric paths, from the result model."""
    from perfq.measure.definitions import DEFINITIONS
    from perfq.measure.result.paths import known_metric_paths
    from perfq.profile.budgets import unit_of

    of_one = [path.removeprefix("latency.lag.") for path in known_metric_paths() if path.startswith("latency.lag.")]
    figures = [f"`{name}`" for name in of_one if "." not in name]
    latencies = [row(f"`{name}`", text) for name, text in DEFINITIONS.items()]
    others = [row(f"`{path}`", unit_of(path)) for path in known_metric_paths() if not path.startswith("latency.")]
    return f"""# Metric paths

A metric path is the dotted path of a figure in `result.json`; budgets and comparisons name figures by it.
`perfq schema result` prints the schema. A figure that a run cannot know is `null`, and a warning says why.

## Latencies

`latency.NAME.FIGURE` and `latency.NAME.phases.PHASE.FIGURE`; counts apart, in nanoseconds. FIGURE is one of
{", ".join(figures)}; PHASE is steady or burst. p99 needs 100 samples and
p999 1,000; below that they are `null`.

{rows(("name", "what it is"), latencies)}

## Others

`*` stands for any key.

{rows(("path", "unit"), others)}
"""


def model_page(title: str, schema_name: str, sentence: str) -> str:
    """A page of one document's fields."""
    return f"# {title}\n\n{sentence} `perfq schema {schema_name}` prints its JSON Schema.\n\n{fields(schema_name)}\n"


def fields(schema_name: str) -> str:
    """Tables of a document's fields: the document itself, then its parts."""
    from perfq.cli.schema import SCHEMAS
    from perfq.profile.expected import Expectations

    module, attribute = SCHEMAS[schema_name][0].split(":")
    model = getattr(importlib.import_module(module), attribute)
    said = Expectations(model)
    schema = model.model_json_schema(by_alias=True)
    parts = [_table(schema, said)]
    for name, part in schema.get("$defs", {}).items():
        if "properties" in part:
            parts.append(f"**{name}**: {_first_line(part)}\n\n{_table(part, said)}")
    return "\n\n".join(parts)


def _table(schema: Mapping[str, Any], said: Any) -> str:
    required = schema.get("required", ())
    lines = []
    for key, field in schema["properties"].items():
        default = "required" if key in required else f"`{json.dumps(field.get('default'))}`"
        if key not in required and "default" not in field:
            default = "`[]`" if field.get("type") == "array" else "`{}`"
        lines.append(row(f"`{key}`", said.describe(field), default, field.get("description", "")))
    return rows(("key", "value", "default", "meaning"), lines)


def _first_line(schema: Mapping[str, Any]) -> str:
    return str(schema.get("description", "")).split("\n", 1)[0]


def command_pages() -> Iterator[tuple[str, str]]:
    """One page a command, and their index."""
    from perfq import cli

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
        for name, below in command.commands.items():
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


def main() -> int:
    """Writes the pages, or with --check says which differ."""
    check = "--check" in sys.argv[1:]
    stale = 0
    for name, text in pages().items():
        path = HERE / name
        if path.is_file() and path.read_text() == text:
            continue
        stale += 1
        if check:
            print(f"{path} differs from the code; run scripts/docs", file=sys.stderr)
        else:
            path.parent.mkdir(exist_ok=True)
            path.write_text(text)
    return 1 if check and stale else 0


if __name__ == "__main__":
    sys.exit(main())
