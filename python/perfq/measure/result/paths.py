"""Metric paths: the dotted paths in result.json that a budget may name.

They are read off the model, so that what can be named and what is written cannot differ. The
keys of open dictionaries (operations, path templates, error keys) may be anything, dots included.
"""

from __future__ import annotations

import difflib
import types
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal, Union, get_args, get_origin

from perfq.measure.document import Document
from perfq.measure.result import Result

Unit = Literal["ns", "bytes", "bytes/min", "count", "rate", "percent", "seconds", "bool"]

#: Phases that a latency is told by.
PHASES = ("steady", "burst")

#: Parts of a result that are measured; the others (budgets, artifacts, …) cannot be budgeted.
_MEASURED = ("latency", "process", "api", "replay", "load", "live", "fleet", "trajectory")


@dataclass(frozen=True)
class Metric:
    """A path, with `*` where any key may stand, and the unit of what stands there."""

    path: str
    unit: Unit


@cache
def metrics() -> tuple[Metric, ...]:
    """Every metric of the model, sorted by path."""
    found = [metric for name in _MEASURED for metric in _leaves(name, Result.model_fields[name].annotation)]
    return tuple(sorted(found, key=lambda metric: metric.path))


def known_metric_paths() -> list[str]:
    """The paths of all metrics, `*` standing for any key."""
    return [metric.path for metric in metrics()]


def find(path: str) -> Metric | None:
    """The metric that a concrete path names; None for a path that no result has."""
    return next((metric for metric in metrics() if _fits(metric.path, path)), None)


def nearest(path: str) -> str | None:
    """The known path that the misspelt one is most like."""
    near = difflib.get_close_matches(path, known_metric_paths(), n=1, cutoff=0.5)
    return near[0] if near else None


def lookup(document: Any, path: str) -> Any:
    """What stands at a path of plain JSON values; None where there is nothing.

    A key of an open dictionary may hold dots: the longest key that fits is taken.
    """
    if path == "" or document is None:
        return document
    if not isinstance(document, dict):
        return None
    parts = path.split(".")
    for length in range(len(parts), 0, -1):
        key = ".".join(parts[:length])
        if key in document:
            return lookup(document[key], ".".join(parts[length:]))
    return None


def in_phase(path: str, phase: str | None) -> str:
    """The path of a latency's figure in one phase.

    `latency.input.p95` in steady is `latency.input.phases.steady.p95`; other paths have no phases.
    """
    if phase in (None, "all") or not path.startswith("latency.") or ".phases." in path:
        return path
    name, _, figure = path.rpartition(".")
    return f"{name}.phases.{phase}.{figure}"


def _fits(pattern: str, path: str) -> bool:
    if "*" not in pattern:
        return pattern == path
    before, _, after = pattern.partition("*")
    return path.startswith(before) and path.endswith(after) and len(path) > len(before) + len(after)


def _leaves(path: str, annotation: Any) -> Iterator[Metric]:
    inner = _without_null(annotation)
    origin = get_origin(inner)
    if inner is bool:
        yield Metric(path, "bool")
    elif inner in (int, float):
        yield Metric(path, _unit(path))
    elif isinstance(inner, type) and issubclass(inner, Document):
        for name, field in inner.model_fields.items():
            yield from _leaves(f"{path}.{name}", field.annotation)
    elif origin is dict:
        keys, value = get_args(inner)
        names = get_args(keys) or (PHASES if path.endswith(".phases") else ("*",))
        if _without_null(value) in (int, float) or isinstance(_without_null(value), type):
            for name in names:
                yield from _leaves(f"{path}.{name}", value)


def _without_null(annotation: Any) -> Any:
    if get_origin(annotation) in (Union, types.UnionType):
        kept = [one for one in get_args(annotation) if one is not type(None)]
        return kept[0] if len(kept) == 1 else annotation
    return annotation


def _unit(path: str) -> Unit:
    last = path.rpartition(".")[2]
    if path.startswith("latency.") and last not in ("count", "censored"):
        return "ns"
    for part in reversed(path.split(".")[-2:]):
        for ending, unit in _ENDINGS:
            if part.endswith(ending):
                return unit
    return "count"


_ENDINGS: tuple[tuple[str, Unit], ...] = (
    ("bytes_per_min", "bytes/min"),
    ("_ns", "ns"),
    ("_ns_mean", "ns"),
    ("bytes", "bytes"),
    ("_rate", "rate"),
    ("percent_max", "percent"),
    ("seconds", "seconds"),
)
