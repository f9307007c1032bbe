"""The figures of a load in the form of kperf's own results, for what reads those.

A load profile gives kperf's MultiSpecRunnerMetricReport, a replay its ReplayReport (Azure/kperf, api/types/metric.go
and cmd/kperf/commands). Latencies are `service`: kperf's clock runs from the send, too. What kperf has no field for
(cancelled, never sent) is added where there was any.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, Final

from perfq._core import Histogram
from perfq.measure.load.recorded import LoadRecorded
from perfq.measure.load.recording import SegmentRecord, SeriesRecord

#: kperf's percentiles, as it prints them and as nearest ranks.
_PERCENTILES: Final = ((0, 0, 1), (0.5, 1, 2), (0.9, 9, 10), (0.95, 19, 20), (0.99, 99, 100), (1, 1, 1))
#: Go's words for a client's time-out, which kperf counts among connection errors.
_TIMED_OUT: Final = "connection/context deadline exceeded"
#: As kperf names what it sends, which is not always the HTTP method.
_METHODS: Final = {
    "GET": "GET",
    "LIST": "LIST",
    "WATCH": "WATCHLIST",
    "CREATE": "POST",
    "UPDATE": "PUT",
    "PATCH": "PATCH",
    "APPLY": "PATCH",
    "DELETE": "DELETE",
    "DELETECOLLECTION": "DELETE",
}
_PLACES: Final = {"namespace": "/namespaces/:namespace/{}", "object": "/{}/:name", "cluster": "/{}"}


def kperf_result(recorded: LoadRecorded) -> str:
    """The document, indented as kperf's."""
    segments = recorded.recording.measured
    server = (recorded.manifest.target.server or "").rstrip("/")
    whole = _report(segments, server)
    if recorded.manifest.input.kind in ("load profile", "runner group"):
        document: dict[str, Any] = {"perSpecResults": [_report([one], server) for one in segments], "aggregated": whole}
    else:
        load = recorded.load
        run = {"totalRun": load.sent, "totalFailed": sum(load.errors.values()) + load.timed_out}
        document = {**whole, "runnerCount": sum(one.start.runners for one in segments), **run}
    return json.dumps(document, indent=2) + "\n"


def _report(segments: Sequence[SegmentRecord], server: str) -> dict[str, Any]:
    """kperf's RunnerMetricReport; fields that kperf leaves out where they are empty are left out."""
    ends = [one.end for one in segments if one.end is not None]
    errors: Counter[str] = Counter()
    series: dict[str, SeriesRecord] = {}
    for segment in segments:
        errors.update(segment.errors)
        if segment.sums["timed_out"]:
            errors[_TIMED_OUT] += segment.sums["timed_out"]
        for key, one in segment.series.items():
            series.setdefault(_url(key, server), SeriesRecord()).add(one)
    latencies = Histogram()
    for one in series.values():
        latencies.merge(one.service)
    unfinished = {"cancelled": sum(end.cancelled for end in ends), "notSent": sum(end.not_sent for end in ends)}
    return {
        "total": sum((one.start.planned or 0) if one.end is None else one.end.planned for one in segments),
        "duration": go_duration(sum(one.wall_ns or 0 for one in segments)),
        **({"errorStats": dict(sorted(errors.items()))} if errors else {}),
        "totalReceivedBytes": sum(one.sums["bytes"] for one in segments),
        **({"percentileLatencies": _percentiles(latencies)} if latencies.count else {}),
        **_by_url(series),
        **{key: count for key, count in unfinished.items() if count},
    }


def _by_url(series: Mapping[str, SeriesRecord]) -> dict[str, Any]:
    found = {url: _percentiles(one.service) for url, one in sorted(series.items()) if one.service.count}
    return {"percentileLatenciesByURL": found} if found else {}


def _percentiles(histogram: Histogram) -> list[list[float]]:
    """[[p, seconds], …] by nearest rank; none is left out for want of samples, as kperf leaves none out."""
    return [[p, (histogram.quantile(num, den) or 0) / 1e9] for p, num, den in _PERCENTILES]


def _url(series: str, server: str) -> str:
    """`GET https://host/api/v1/pods/:name` of `GET core/v1/pods object`."""
    verb, _, what = series.partition(" ")
    parts = what.split(" ")
    method = "POD_LOG" if what.split(" ")[0].endswith("/pods/log") else _METHODS.get(verb, verb)
    if len(parts) != 2 or parts[1] not in _PLACES:
        return f"{method} {server}/{what}"
    group, version, resource, *below = parts[0].split("/")
    base = f"/api/{version}" if group == "core" else f"/apis/{group}/{version}"
    path = base + _PLACES[parts[1]].format(resource) + "".join(f"/{one}" for one in below)
    return f"{method} {server}{path}{'?watch=true' if verb == 'WATCH' else ''}"


def go_duration(nanoseconds: int) -> str:
    """As Go's `time.Duration` prints itself: `1m30.5s`, `12.3ms`, `0s`."""
    if nanoseconds < 1_000_000_000:
        for size, unit in ((1_000_000, "ms"), (1_000, "µs"), (1, "ns")):
            if nanoseconds >= size:
                return f"{_decimal(nanoseconds, size)}{unit}"
        return "0s"
    minutes, rest = divmod(nanoseconds, 60_000_000_000)
    seconds = f"{_decimal(rest, 1_000_000_000)}s"
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours}h{minutes}m{seconds}"
    return f"{minutes}m{seconds}" if minutes else seconds


def _decimal(value: int, size: int) -> str:
    whole, rest = divmod(value, size)
    digits = str(rest).rjust(len(str(size)) - 1, "0").rstrip("0") if rest else ""
    return f"{whole}.{digits}" if digits else str(whole)
