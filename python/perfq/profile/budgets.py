"""Budgets: a metric path, an operator and a limit; one frozen value each.

Nothing is read from files (budget_file.py) and nothing is judged here. Whether a metric exists is the
result model's to say (`nearest_metric` helps to name it), whether a plan or a client can have it is
the judge's.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterable
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
#: What is counted of a latency; its other figures are nanoseconds.
LATENCY_COUNTS: Final = ("count", "censored")

#: Figures of these are nanoseconds, wherever they stand.
_FIGURES_IN_NS: Final = (
    ["response"],
    ["service"],
    ["handshake"],
    ["time_to_headers"],
    ["time_to_first_event"],
    ["time_to_initial_bookmark"],
)
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
    if metric.startswith("latency.") and leaf not in LATENCY_COUNTS:
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
    if metric.split(".")[-2:-1] in _FIGURES_IN_NS and leaf not in LATENCY_COUNTS:
        return "ns"
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
    import difflib

    near = difflib.get_close_matches(metric, list(known), n=1)
    return near[0] if near else None


#: Name → for whom. The files stand in perfq/profiles/presets.
PRESETS: Final[dict[str, str]] = {
    "correctness": "any profile and client; no wall-clock figure, so it holds in CI",
    "client-1k": "a client on 1,000 Pods, what it does right and how fast",
    "terminal-1k": "a client that is seen from outside only, on 1,000 Pods",
    "k8s-slo": "a request load: the latency SLOs of the Kubernetes API, as a client sees them",
}
