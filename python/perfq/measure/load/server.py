"""The target's own metrics before and after a load → what it did meanwhile, or why that is not known."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Final

from perfq.measure.load.exposition import Metric, lines_of, metrics_of
from perfq.measure.load.samples import ServerMetrics
from perfq.measure.result.load_server import QueueWait, Server, ServerRequests

_START: Final = "process_start_time_seconds"
_DURATION: Final = "apiserver_request_duration_seconds"
_IN_FLIGHT: Final = "apiserver_current_inflight_requests"
_QUEUED: Final = "apiserver_flowcontrol_current_inqueue_requests"
_REJECTED: Final = "apiserver_flowcontrol_rejected_requests_total"
_WAIT: Final = "apiserver_flowcontrol_request_wait_duration_seconds"
_COUNTERS: Final = (
    *(f"{name}_{part}" for name in (_DURATION, _WAIT) for part in ("bucket", "sum", "count")),
    _REJECTED,
)
WANTED: Final = frozenset({_START, _IN_FLIGHT, _QUEUED, *_COUNTERS})
#: Samples that p99 needs.
_ENOUGH: Final = 100
#: As the client's series have them, where the server has another word.
_VERBS: Final = {"POST": "CREATE", "PUT": "UPDATE"}
_SCOPES: Final = {"resource": "object"}

#: Why there are none where nobody asked.
NOT_ASKED: Final = "the target's own metrics were not asked for"

Values = dict[tuple[str, frozenset[tuple[str, str]]], Metric]


def wanted(text: str) -> str:
    """The lines that are read of what a server exposes."""
    return lines_of(text, WANTED)


def server_figures(read: Mapping[str, ServerMetrics]) -> tuple[Server | None, str | None]:
    """The figures, or why there are none. `read`: what was read `before` and `after`."""
    if not read:
        return None, NOT_ASKED
    values: dict[str, Values] = {}
    for when in ("before", "after"):
        one = read.get(when)
        if one is None or one.text is None:
            why = "the run was cut short" if one is None else one.why
            return None, f"the target's own metrics could not be read {when} the load: {why}"
        try:
            values[when] = {metric.series: metric for metric in metrics_of(one.text)}
        except ValueError as error:
            return None, f"the target's own metrics cannot be understood: {error}"
    before, after = values["before"], values["after"]
    why = _another(before, after)
    return (None, why) if why is not None else (_figures(before, after), None)


def _another(before: Values, after: Values) -> str | None:
    """Why the two are not of the same process."""
    started = [one.get((_START, frozenset())) for one in (before, after)]
    if started[0] is None or started[1] is None:
        return f"the target does not tell when it was started ({_START}): whether one process answered is not known"
    if started[0].value != started[1].value:
        return "another instance of the target answered after the load: its process was started at another time"
    for series, metric in before.items():
        if metric.name in _COUNTERS and (series not in after or after[series].value < metric.value):
            return f"another instance of the target answered after the load: its counter {metric.name} fell"
    return None


def _figures(before: Values, after: Values) -> Server:
    grown = [
        Metric(one.name, one.labels, one.value - (before[series].value if series in before else 0.0))
        for series, one in after.items()
        if one.name in _COUNTERS
    ]
    now = list(after.values())
    return Server(
        requests=_requests(grown),
        in_flight=_by(now, _IN_FLIGHT, "request_kind"),
        queued=_by(now, _QUEUED, "priority_level"),
        rejected=_by(grown, _REJECTED, "priority_level", "reason"),
        queue_waits=_waits(grown),
    )


def _requests(grown: Iterable[Metric]) -> list[ServerRequests]:
    """By kind, the most frequent first."""
    counts: Counter[str] = Counter()
    sums: Counter[str] = Counter()
    buckets: dict[str, Counter[float]] = {}
    for one in grown:
        match one.name.removeprefix(_DURATION):
            case "_count":
                counts[_key(one.labels)] += round(one.value)
            case "_sum":
                sums[_key(one.labels)] += round(one.value * 1e9)
            case "_bucket":
                buckets.setdefault(_key(one.labels), Counter())[float(one.labels["le"])] += round(one.value)
    return [
        ServerRequests(
            key=key,
            count=count,
            mean_ns=sums[key] // count,
            p50_ns=_quantile(buckets.get(key, Counter()), count, 0.5),
            p99_ns=_quantile(buckets.get(key, Counter()), count, 0.99) if count >= _ENOUGH else None,
        )
        for key, count in sorted(counts.items(), key=lambda item: (-item[1], item[0]))
        if count
    ]


def _quantile(buckets: Mapping[float, int], count: int, share: float) -> int | None:
    """The bound of the bucket in which the sample of that rank lies; None where that is the last, which has none."""
    rank = math.ceil(count * share)
    bound = next((bound for bound in sorted(buckets) if buckets[bound] >= rank), math.inf)
    return None if math.isinf(bound) else round(bound * 1e9)


def _key(labels: Mapping[str, str]) -> str:
    """`GET core/v1/pods object`, as the client's own series are called."""
    verb = _VERBS.get(labels.get("verb", ""), labels.get("verb", ""))
    resource, subresource = labels.get("resource", ""), labels.get("subresource", "")
    if not resource:
        return f"{verb} /{subresource.lstrip('/')}"
    parts = [
        labels.get("group") or "core",
        labels.get("version", ""),
        resource,
        *([subresource] if subresource else []),
    ]
    return f"{verb} {'/'.join(parts)} {_SCOPES.get(labels.get('scope', ''), labels.get('scope', ''))}"


def _by(metrics: Iterable[Metric], name: str, *labels: str) -> dict[str, int]:
    """Sums of a metric by these labels; what is 0 is left out."""
    sums: Counter[str] = Counter()
    for one in metrics:
        if one.name == name:
            sums["/".join(one.labels.get(label, "") for label in labels)] += round(one.value)
    return {key: value for key, value in sorted(sums.items()) if value}


def _waits(grown: list[Metric]) -> list[QueueWait]:
    counts = _by(grown, f"{_WAIT}_count", "priority_level")
    sums: Counter[str] = Counter()
    for one in grown:
        if one.name == f"{_WAIT}_sum":
            sums[one.labels.get("priority_level", "")] += round(one.value * 1e9)
    return [QueueWait(key=key, count=count, mean_ns=sums[key] // count) for key, count in counts.items()]
