"""Writes the parts of docs/reference that come from the code. `scripts/docs` runs it; a test compares.

python -m docs.reference.generate           writes the files
python -m docs.reference.generate --check   exit 1 where one differs

Texts of some length are files in prose/; each is the page, or the sentences over the tables of a document's fields.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from docs.reference.commands import command_pages
from docs.reference.tables import fields, row, rows

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
        "audit-log.md": audit_log(),
        "load-profile.md": model_page("Load profiles", "runner-group", prose("load-profile")),
        "trajectory.md": model_page("perfq.trajectory/v1", "trajectory", prose("trajectory")),
        "trajectory-profile.md": model_page(
            "perfq.trajectory-profile/v1", "trajectory-profile", prose("trajectory-profile")
        ),
        **{f"cli/{name}": text for name, text in command_pages()},
    }
    return {name: f"{NOTE}\n{text.strip()}\n" for name, text in made.items()}


def prose(name: str) -> str:
    """The text of prose/`name`.txt."""
    return (HERE / "prose" / f"{name}.txt").read_text().rstrip()


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


def audit_log() -> str:
    """What an import of audit logs loses and changes, from the reasons that the native module knows."""
    from perfq._core import load_import_reasons

    names = {
        "file": "Files",
        "line": "Lines",
        "event": "Events",
        "request": "Requests that are not in the trace",
        "change": "Requests that are in the trace, but not as they were sent",
    }
    parts = [prose("audit-log")]
    for of, title in names.items():
        reasons = [row(f"`{name}`", text) for name, each, text in load_import_reasons() if each == of]
        parts.append(f"### {title}\n\n{rows(('loss', 'meaning'), reasons)}")
    return "\n\n".join(parts)


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
    from perfq.measure.load.error_keys import NAMED
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

## Errors of a load

The key in `load.errors.*` and `load.series.*.errors.*` is `http/STATUS` (`http/429`), or one of those below; a budget
that names another one is refused before the run. An error that never came is 0.

{"".join(f"- `{key}`{chr(10)}" for key in NAMED)}"""


def model_page(title: str, schema_name: str, sentence: str) -> str:
    """A page of one document's fields."""
    return f"# {title}\n\n{sentence} `perfq schema {schema_name}` prints its JSON Schema.\n\n{fields(schema_name)}\n"


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
