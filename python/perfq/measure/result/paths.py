"""Metric paths: the dotted paths in result.json that a budget may name.

They are read off the model, so that what can be named and what is written cannot differ. The
keys of open dictionaries (operations, path templates, error keys) may be anything, dots included, and so
may those of items that have a key (`load.series.GET core/v1/pods object.response.p99`).
"""

from __future__ import annotations

import re
import types
from collections.abc import Iterable, Iterator
from functools import cache
from typing import Annotated, Any, Union, get_args, get_origin

import msgspec

from perfq.errors import UsageError
from perfq.measure.document import Document
from perfq.measure.load.error_keys import NAMED, is_error_key
from perfq.profile.budgets import Budget, nearest_metric

#: Phases that a latency is told by: those of a churn, and the segments of a load.
PHASES = ("steady", "burst", "segment-*")

#: An error of a load, or of one of its series.
_ERRORS = re.compile(r"load\.(?:series\..+\.)?errors\.(.+)")
#: Parts of a result that are measured; the others (budgets, artifacts, …) cannot be budgeted.
_MEASURED = ("latency", "process", "api", "replay", "load", "live", "fleet", "trajectory")


@cache
def _metrics() -> dict[str, type]:
    from perfq.measure.result.whole import WholeResult

    found = (
        leaf
        for field in msgspec.structs.fields(WholeResult)
        if field.name in _MEASURED
        for leaf in _leaves(field.name, field.type)
    )
    return dict(sorted(found, key=lambda leaf: leaf[0]))


def known_metric_paths() -> list[str]:
    """The paths of all metrics, sorted, `*` standing for any key."""
    return list(_metrics())


def is_metric(path: str) -> bool:
    """Whether a result can have something at this concrete path that a budget may limit."""
    errors = _ERRORS.fullmatch(path)
    if errors is not None:
        # An error that never came is 0: a key that no error has would always hold.
        return is_error_key(errors[1])
    return any(_fits(pattern, path) for pattern in _metrics())


def refuse_unknown(budgets: Iterable[Budget]) -> None:
    """UsageError that names every budget whose metric no result has, with what was probably meant."""
    unknown = [budget.metric for budget in budgets if not is_metric(budget.path)]
    if unknown:
        known = [*known_metric_paths(), *(f"load.errors.{key}" for key in (*NAMED, "http/429", "http/500"))]
        lines = [
            f"  {metric}: no such metric"
            + (f"; did you mean {near}?" if (near := nearest_metric(metric, known)) else "")
            for metric in dict.fromkeys(unknown)
        ]
        raise UsageError("a budget names what no result has (perfq schema result):", details=lines)


def flags() -> list[str]:
    """The metrics that are true or false."""
    return [path for path, kind in _metrics().items() if kind is bool]


def lookup(document: Any, path: str) -> Any:
    """What stands at a path of plain JSON values; None where there is nothing.

    A key of an open dictionary may hold dots: the longest key that fits is taken.
    """
    if path == "" or document is None:
        return document
    if isinstance(document, list):
        document = {item["key"]: item for item in document if isinstance(item, dict) and "key" in item}
    if not isinstance(document, dict):
        return None
    parts = path.split(".")
    for length in range(len(parts), 0, -1):
        key = ".".join(parts[:length])
        if key in document:
            return lookup(document[key], ".".join(parts[length:]))
    return None


def _fits(pattern: str, path: str) -> bool:
    return re.fullmatch(".+".join(re.escape(part) for part in pattern.split("*")), path) is not None


def _leaves(path: str, annotation: Any) -> Iterator[tuple[str, type]]:
    inner = _bare_type(annotation)
    origin = get_origin(inner)
    if inner in (bool, int, float):
        yield path, inner
    elif origin is list:
        # A list of figures is one metric: it holds when each of its items does.
        item = _bare_type(get_args(inner)[0])
        if item in (int, float):
            yield path, item
        elif isinstance(item, type) and issubclass(item, Document) and item.__struct_fields__[0] == "key":
            yield from _leaves(f"{path}.*", item)
    elif origin is dict:
        keys, value = get_args(inner)
        for name in get_args(keys) or (PHASES if path.endswith(".phases") else ("*",)):
            yield from _leaves(f"{path}.{name}", value)
    elif isinstance(inner, type) and issubclass(inner, Document):
        for field in msgspec.structs.fields(inner):
            yield from _leaves(f"{path}.{field.name}", field.type)


def _bare_type(annotation: Any) -> Any:
    if get_origin(annotation) is Annotated:
        annotation = get_args(annotation)[0]
    if get_origin(annotation) in (Union, types.UnionType):
        kept = [one for one in get_args(annotation) if one is not type(None)]
        return kept[0] if len(kept) == 1 else annotation
    return annotation
