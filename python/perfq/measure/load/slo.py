"""Requests by the classes of the Kubernetes API SLOs.

Source: kubernetes/community, sig-scalability/slos/api_call_latency.md. For every (resource, verb) pair of mutating
calls on single objects, and every (resource, scope) pair of read-only calls that do not stream, the 99th percentile
per cluster-day: mutating ≤ 1 s; reads of one object (scope=resource) ≤ 1 s, of a namespace or the cluster ≤ 30 s.
There the latency is measured in the server; what a client measures holds the network and its own waiting too, and
is an upper bound. Subresources, custom and aggregated resources, which the SLOs leave out, are counted here: a
profile names what it wants.
"""

from __future__ import annotations

from typing import Final, Literal

from perfq._core import Histogram
from perfq.measure.load.recording import SeriesRecord
from perfq.measure.result.load import SloClass, SloFigures

#: p99 is published from so many samples on.
ENOUGH: Final = 100
_MUTATING: Final = frozenset({"CREATE", "UPDATE", "PATCH", "APPLY", "DELETE"})
_READS: Final[dict[str, SloClass]] = {"object": "get", "namespace": "namespace_read", "cluster": "cluster_read"}


def slo_class(key: str) -> SloClass | None:
    """The class of a series (`VERB group/version/resource scope`); None for those that the SLOs do not name."""
    parts = key.split(" ")
    if len(parts) != 3:
        return None
    verb, _, scope = parts
    if verb in _MUTATING:
        return "mutating"
    return _READS.get(scope) if verb in ("GET", "LIST") else None


def slo_figures(series: dict[str, SeriesRecord], latency: Literal["response", "service"]) -> dict[SloClass, SloFigures]:
    """The figures of each class that occurs; of one without an answer there is no p99."""
    classes: dict[SloClass, dict[str, Histogram]] = {}
    for key, record in series.items():
        found = slo_class(key)
        histogram = record.response if latency == "response" else record.service
        if found is not None:
            classes.setdefault(found, {})[key] = histogram
    return {name: _figures(classes[name], latency) for name in ("mutating", *_READS.values()) if name in classes}


def _figures(members: dict[str, Histogram], latency: Literal["response", "service"]) -> SloFigures:
    whole = Histogram()
    worst: tuple[int, str | None] | None = None
    for key, histogram in members.items():
        whole.merge(histogram)
        p99 = histogram.quantile(99, 100)
        if histogram.count >= ENOUGH and p99 is not None and (worst is None or p99 > worst[0]):
            worst = p99, key
    together = whole.quantile(99, 100) if whole.count >= ENOUGH else None
    if together is not None and (worst is None or together > worst[0]):
        worst = together, None
    return SloFigures(
        p99_ns=None if worst is None else worst[0],
        series=None if worst is None else worst[1],
        latency=latency,
        count=whole.count,
    )
