"""The flags that commands share: one name and one meaning each.

Decorators give what the flags come to under these names: `plan_options` duration (s), seed,
assignments; `target_options` context, kubeconfig, yes; `run_options` out, run_id, repeat, as_json, quiet;
`budget_options` budgets;
`stop_options` max_time (s), stop_lag (ms), stop_error_share, stop_429_share (0 … 1), stop_memory (bytes).
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, TypeVar

import click

from perfq import units

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

    from perfq.profile.override import Override

    AnyParamType = click.ParamType[Any]
else:
    AnyParamType = click.ParamType

F = TypeVar("F", bound=Callable[..., Any])


def _pod_bytes(text: str) -> int:
    """The engine's own bound, said before anything is started."""
    number = units.parse_bytes(text)
    if number > 1 << 20:
        raise ValueError("at most 1MiB a Pod")
    return number


class Quantity(AnyParamType):
    """Text with a unit, read by one of the parsers of `perfq.units`; its ValueError says what is expected."""

    def __init__(self, name: str, parse: Callable[[str], float]) -> None:
        self.name = name
        self._parse = parse

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """The number; a usage error where the text is none."""
        if isinstance(value, (int, float)):
            return value
        try:
            return self._parse(value)
        except ValueError as error:
            self.fail(f"got {value!r}, expected {error}", param, ctx)


#: Whole seconds; seconds; milliseconds; bytes; per second; bytes per second; 0 … 1.
WHOLE_SECONDS = Quantity("DURATION", units.parse_seconds)
SECONDS = Quantity("DURATION", lambda text: units.parse_duration(text) / units.SECOND)
MILLISECONDS = Quantity("DURATION", lambda text: units.parse_duration(text) / units.NANOS["ms"])
BYTES = Quantity("BYTES", units.parse_bytes)
POD_BYTES = Quantity("BYTES", _pod_bytes)
RATE = Quantity("RATE", units.parse_rate)
BYTE_RATE = Quantity("RATE", units.parse_byte_rate)
SHARE = Quantity("PERCENT", units.parse_share)


class Completed(AnyParamType):
    """Text that the shell can complete from a list, and from files where `files` says so. Checked elsewhere."""

    def __init__(self, name: str, names: Callable[[], Iterable[str]], *, files: bool = False) -> None:
        self.name = name
        self._names = names
        self._files = files

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        """Names that begin so, and files."""
        from click.shell_completion import CompletionItem

        found = [CompletionItem(name) for name in self._names() if name.startswith(incomplete)]
        return [*found, CompletionItem(incomplete, type="file")] if self._files else found


def _profiles() -> Iterable[str]:
    from perfq.profile.builtin_ids import BUILTIN_IDS

    return BUILTIN_IDS


def _presets() -> Iterable[str]:
    from perfq.profile.budgets import PRESETS

    return PRESETS


def _clients() -> Iterable[str]:
    from perfq.profile.client_files import BUILTIN_CLIENTS

    return BUILTIN_CLIENTS


PROFILE = Completed("PROFILE", _profiles, files=True)
PRESET = Completed("NAME", _presets)
CLIENT = Completed("NAME", _clients)
CLIENT_OR_FILE = Completed("NAME|FILE", _clients, files=True)


def _assignments(_ctx: click.Context, _param: click.Parameter, texts: tuple[str, ...]) -> tuple[Override, ...]:
    if not texts:
        return ()
    from perfq.profile.override import parse_set

    return tuple(parse_set(text) for text in texts)


def together(*options: Callable[[F], F]) -> Callable[[F], F]:
    def decorate(command: F) -> F:
        for option in reversed(options):
            command = option(command)
        return command

    return decorate


profile_argument = click.argument("profile", type=PROFILE, metavar="PROFILE")
json_option = click.option("--json", "as_json", is_flag=True, help="JSON on stdout, for machines.")
quiet_option = click.option("-q", "--quiet", is_flag=True, help="No progress on stderr.")

duration_option = click.option(
    "--duration",
    type=WHOLE_SECONDS,
    metavar="TIME",
    help="Another length, in whole seconds (10s, 2m); every burst has to lie within it.",
)

seed_option = click.option("--seed", type=int, metavar="N", help="Another seed than the profile's.")


set_option = click.option(
    "--set",
    "assignments",
    multiple=True,
    callback=_assignments,
    metavar="KEY=JSON",
    help="Change a field of the profile, such as bursts.0.start_second=3 or specs.0.rate=500. May be repeated.",
)

plan_options = together(duration_option, seed_option, set_option)

context_option = click.option("--context", metavar="NAME", help="A context of the kubeconfig.")
kubeconfig_option = click.option(
    "--kubeconfig", type=click.Path(), metavar="FILE", help="Default: KUBECONFIG, then ~/.kube/config."
)

target_options = together(
    context_option,
    kubeconfig_option,
    click.option("--yes", is_flag=True, help="Write to a server on this machine that is neither ours nor a test bed."),
)

out_option = click.option(
    "--out",
    type=click.Path(),
    metavar="DIR",
    help="Where the run's files go (default: runs/RUN-ID); must not hold anything yet.",
)
run_id_option = click.option("--run-id", metavar="ID", help="The run's name: at most 40 of a-z, 0-9 and -.")
place_options = together(out_option, run_id_option, json_option, quiet_option)

run_options = together(
    out_option,
    run_id_option,
    click.option(
        "--repeat",
        type=click.IntRange(1, 1000),
        default=1,
        show_default=True,
        metavar="N",
        help="So many runs, and a summary with the median and the spread.",
    ),
    json_option,
    quiet_option,
)

_max_time = click.option(
    "--max-time",
    type=SECONDS,
    metavar="TIME",
    help="Stop when the whole run takes longer, from its start on.",
)
_stop_memory = click.option(
    "--stop-memory", type=BYTES, metavar="BYTES", help="Stop when perfq itself holds more, such as 2GiB."
)

stop_options = together(
    _max_time,
    click.option(
        "--stop-lag", type=MILLISECONDS, metavar="TIME", help="Stop when an event or a request is later than this."
    ),
    click.option(
        "--stop-error-share", type=SHARE, metavar="PERCENT", help="Stop when more of the requests fail, such as 5%."
    ),
    click.option("--stop-429-share", type=SHARE, metavar="PERCENT", help="Stop when more of the requests get 429."),
    _stop_memory,
)

session_stop_options = together(
    _max_time,
    click.option("--stop-lag", type=MILLISECONDS, metavar="TIME", help="Stop when a session arrives later than this."),
    click.option(
        "--stop-error-share",
        type=SHARE,
        metavar="PERCENT",
        help="Stop when more of the commands do not end by themselves, such as 5%.",
    ),
    _stop_memory,
)


def search_options(tolerance: str) -> Callable[[F], F]:
    """--tolerance and --confirmations of a bisection."""
    return together(
        click.option(
            "--tolerance",
            type=SHARE,
            default=tolerance,
            show_default=True,
            metavar="PERCENT",
            help="How near the highest that held and the lowest that did not have to be.",
        ),
        click.option(
            "--confirmations",
            type=click.IntRange(1, 20),
            default=3,
            show_default=True,
            metavar="N",
            help="How often the answer has to hold again.",
        ),
    )


def budget_options(command: F) -> F:
    """--budget and --preset, given to the command as one tuple `budgets`."""

    @functools.wraps(command)
    def with_budgets(*args: Any, budget_texts: tuple[str, ...], presets: tuple[str, ...], **given: Any) -> Any:
        budgets: tuple[Any, ...] = ()
        if budget_texts or presets:
            from perfq.measure.result.paths import refuse_unknown
            from perfq.profile.budget_file import budgets_of

            budgets = budgets_of(budget_texts, presets)
            refuse_unknown(budgets)
        return command(*args, budgets=budgets, **given)

    decorate = together(
        click.option(
            "--budget",
            "budget_texts",
            multiple=True,
            metavar="LIMIT|FILE",
            help="A limit on a figure of the result, such as latency.input.p95<=100ms, or a budgets.yaml. "
            "May be repeated.",
        ),
        click.option(
            "--preset",
            "presets",
            type=PRESET,
            multiple=True,
            metavar="NAME",
            help="Ready-made budgets: correctness, client-1k, terminal-1k, k8s-slo. May be repeated.",
        ),
    )
    decorated: Any = decorate(with_budgets)
    return decorated  # type: ignore[no-any-return]
