"""Budgets: a metric path, an operator and a limit; `perfq.budgets/v1`, `--budget`, and the presets.

Nothing is judged here. Whether a metric exists is the result model's to say (`nearest_metric` helps
to name it), whether a plan or a client can have it is the judge's.
"""

from __future__ import annotations

import difflib
import operator
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Final, Literal, cast

from perfq import units

Operator = Literal["<", "<=", ">", ">=", "=="]
Unit = Literal["ns", "s", "bytes", "bytes/min", "/s", "percent", "ratio", "bool", "count"]
Phase = Literal["steady", "burst", "all"]
Need = Literal["probe", "rendered_cell", "live"]

OPERATORS: Final[dict[str, Callable[[float, float], bool]]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "==": operator.eq,
}
#: The figures of a latency; `latency.NAME.count` is a count, these are nanoseconds.
LATENCY_FIGURES: Final = ("p50", "p90", "p95", "p99", "p999", "max")
SCHEMA: Final = "perfq.budgets/v1"

_EXPRESSION = re.compile(r"\s*([^<>=]*?)\s*(<=|>=|==|<|>)\s*([^<>=]*?)\s*")
_LATENCY = re.compile(r"latency\.(\w+)\.(\w+)", re.ASCII)
_EXPECTED: Final = "METRIC OPERATOR LIMIT with one of < <= > >= ==, such as latency.input.p95<=100ms"


@dataclass(frozen=True, slots=True)
class Budget:
    """A limit on one figure of the result.

    `limit` is in `unit`: ns, s, bytes, bytes/min, /s (per second), percent (0 … 100 a core), ratio
    (0 … 1), bool or count. A metric that is a list (`replay.backlog.drain_ns`) holds when each of its
    items does.
    """

    metric: str
    operator: Operator
    limit: int | float | bool
    unit: Unit
    #: The budget as it was written, `METRIC OPERATOR LIMIT`.
    text: str
    #: Which phase of a latency; None and "all" are the whole run.
    phase: Phase | None = None
    #: Seconds that a run has to last for the budget to apply.
    min_duration: int | None = None
    #: Events/s of the phase between which the limit is meant; a plan without such a phase cannot have it.
    min_rate: int | None = None
    max_rate: int | None = None
    #: What has to be there for the figure to exist.
    needs: tuple[Need, ...] = ()
    #: The limit before it was changed, and why this one; the report prints both.
    was: str | None = None
    rationale: str | None = None

    @property
    def path(self) -> str:
        """The dotted path that is read: that of the phase where one is named."""
        latency = _LATENCY.fullmatch(self.metric)
        if latency is None or self.phase in (None, "all"):
            return self.metric
        return f"latency.{latency[1]}.phases.{self.phase}.{latency[2]}"

    def met_by(self, observed: float) -> bool:
        """Whether a figure, in `unit`, keeps the limit."""
        return OPERATORS[self.operator](observed, self.limit)


@dataclass(frozen=True, slots=True)
class Conditions:
    """When a budget applies, and why it says what it says: the keys of an entry beside metric and limit."""

    phase: Phase | None = None
    min_duration: int | None = None
    min_rate: int | None = None
    max_rate: int | None = None
    needs: tuple[Need, ...] = ()
    was: str | None = None
    rationale: str | None = None


ALWAYS: Final = Conditions()


def parse_budget(text: str, conditions: Conditions = ALWAYS) -> Budget:
    """`latency.event_to_render.p95<=250ms` → a budget. ValueError says what is expected instead."""
    match = _EXPRESSION.fullmatch(text)
    if match is None or not match[1] or not match[3]:
        raise ValueError(_EXPECTED)
    metric, sign, limit = match[1], cast("Operator", match[2]), match[3]
    if not re.fullmatch(r"[A-Za-z]\w*(\.[^.\s]([^.]*[^.\s])?)+", metric):
        raise ValueError(f"{_EXPECTED} (a metric is a dotted path in result.json)")
    if conditions.phase in ("steady", "burst") and _LATENCY.fullmatch(metric) is None:
        raise ValueError("a latency.NAME.FIGURE metric where a phase is named")
    unit = unit_of(metric)
    value = parse_limit(limit, unit)
    if unit == "bool" and sign != "==":
        raise ValueError(f"{metric}==true or {metric}==false")
    return Budget(
        metric=metric,
        operator=sign,
        limit=value,
        unit=unit,
        text=f"{metric} {sign} {limit}",
        phase=conditions.phase,
        min_duration=conditions.min_duration,
        min_rate=conditions.min_rate,
        max_rate=conditions.max_rate,
        needs=conditions.needs,
        was=conditions.was,
        rationale=conditions.rationale,
    )


def unit_of(metric: str) -> Unit:
    """The unit of a metric, which its name carries: `_ns`, `_bytes`, `percent`, `_rate`, latency figures …"""
    leaf = metric.rsplit(".", 1)[-1]
    if metric.startswith("latency.") and leaf in LATENCY_FIGURES:
        return "ns"
    suffixes: tuple[tuple[str, Unit], ...] = (
        ("_ns", "ns"),
        ("_ns_mean", "ns"),
        ("_bytes_per_min", "bytes/min"),
        ("bytes", "bytes"),
        ("_rate", "/s"),
        ("_seconds", "s"),
        ("_ratio", "ratio"),
        ("_share", "ratio"),
    )
    # `extra_wait_ns.mean`: the figure of a quantity has the unit of the quantity.
    for part in reversed(metric.split(".")[-2:]):
        for suffix, unit in suffixes:
            if part.endswith(suffix):
                return unit
    if "percent" in leaf:
        return "percent"
    return "bool" if leaf in ("match", "valid", "complete", "shown", "closed") else "count"


def parse_limit(text: str, unit: Unit) -> int | float | bool:
    """A limit in its unit; a bare number is in that unit already. ValueError says what is expected."""
    if unit == "bool":
        if text not in ("true", "false"):
            raise ValueError("true or false")
        return text == "true"
    if re.fullmatch(r"\d{1,20}", text, re.ASCII):
        return int(text)
    if re.fullmatch(r"\d{1,20}\.\d{1,20}", text, re.ASCII):
        return float(text)
    parsers: dict[Unit, Callable[[str], float]] = {
        "ns": units.parse_duration,
        "s": lambda given: units.parse_duration(given) / units.SECOND,
        "bytes": units.parse_bytes,
        "bytes/min": lambda given: units.parse_byte_rate(given) * 60,
        "/s": units.parse_rate,
        "percent": lambda given: units.parse_share(given) * 100,
        "ratio": units.parse_share,
        "count": units.parse_count,
    }
    return parsers[unit](text)


def nearest_metric(metric: str, known: Iterable[str]) -> str | None:
    """The known path that is most like this one, for `did you mean …?`; None where none is near."""
    near = difflib.get_close_matches(metric, list(known), n=1)
    return near[0] if near else None


def _correctness() -> list[Budget]:
    return [
        parse_budget(
            "replay.updates.dropped==0",
            Conditions(needs=("probe",), rationale="an update that was dropped was never shown"),
        ),
        parse_budget(
            "replay.digests.match==true",
            Conditions(needs=("probe",), rationale="store and table hold what the plan ends with"),
        ),
        parse_budget(
            "api.unexpected_gets==0",
            Conditions(rationale="an informer reads its store; a GET of one object is one request too many"),
        ),
        parse_budget(
            "api.lists_per_scope_max<=1",
            Conditions(rationale="one LIST a (kind, scope), besides re-lists after 410 and reconnects"),
        ),
        parse_budget(
            "api.watches_per_scope_max<=1",
            Conditions(rationale="one WATCH a (kind, scope), besides those after 410 and reconnects"),
        ),
        parse_budget(
            "replay.scenarios_failed==0",
            Conditions(rationale="what does not reach its screen does not work"),
        ),
    ]


def _client_1k() -> list[Budget]:
    return [
        *_correctness(),
        parse_budget(
            "replay.start.list_to_populated_ns<=2s",
            Conditions(needs=("probe",), rationale="from the end of the LIST to 1,000 rows in the table"),
        ),
        parse_budget(
            "replay.start.interactive_ns<=10s",
            Conditions(rationale="from the start of the process to the first screen that takes keys"),
        ),
        parse_budget(
            "latency.event_to_render.p95<=250ms",
            Conditions(
                phase="steady",
                min_rate=20,
                needs=("probe", "rendered_cell"),
                rationale="a change is seen at once while at least 20 events/s flow",
            ),
        ),
        parse_budget(
            "latency.input.p95<=100ms",
            Conditions(rationale="below a tenth of a second a key feels immediate, also while events flow"),
        ),
        parse_budget(
            "replay.backlog.drain_ns<=3s",
            Conditions(
                max_rate=100,
                needs=("probe",),
                rationale="caught up soon after a burst of 100 events/s",
            ),
        ),
        parse_budget(
            "process.client.rss_slope_bytes_per_min<=1MiB/min",
            Conditions(min_duration=1800, rationale="clients stay open for days; below 30 min a slope is noise"),
        ),
        parse_budget(
            "process.client.rss_peak_bytes<=512MiB",
            Conditions(rationale="room beside the editor, the browser and the build on a laptop"),
        ),
    ]


def _terminal_1k() -> list[Budget]:
    return [
        *(budget for budget in _correctness() if "probe" not in budget.needs),
        parse_budget(
            "replay.start.populated_screen_ns<=12s",
            Conditions(rationale="start (10 s) and table (2 s) of client-1k, seen from outside"),
        ),
        parse_budget(
            "latency.event_to_screen.p95<=500ms",
            Conditions(
                rationale="twice the render limit of client-1k: it starts at the commit and contains the "
                "watch, the client's own coalescing and the terminal"
            ),
        ),
        parse_budget(
            "latency.input.p95<=100ms",
            Conditions(rationale="below a tenth of a second a key feels immediate, also while events flow"),
        ),
        parse_budget(
            "process.client.rss_peak_bytes<=512MiB",
            Conditions(rationale="room beside the editor, the browser and the build on a laptop"),
        ),
    ]


#: name → (for whom, its budgets)
PRESETS: Final[dict[str, tuple[str, Callable[[], Sequence[Budget]]]]] = {
    "correctness": ("any profile and client; no wall-clock figure, so it holds in CI", _correctness),
    "client-1k": ("a client with a probe on 1,000 Pods", _client_1k),
    "terminal-1k": ("a client seen from outside on 1,000 Pods", _terminal_1k),
}


def preset(name: str) -> tuple[Budget, ...]:
    """The budgets of a preset. ValueError, with the nearest name, for an unknown one."""
    if name not in PRESETS:
        near = difflib.get_close_matches(name, PRESETS, n=1)
        hint = f" (did you mean {near[0]}?)" if near else ""
        raise ValueError(f"one of {', '.join(PRESETS)}{hint}")
    return tuple(PRESETS[name][1]())
