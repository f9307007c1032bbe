"""Why a field of a load's result is null: one warning for each, with its JSON pointer."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from perfq.measure.nulls import null_fields
from perfq.measure.result.common import Latency, LatencyName, Processes, ResultWarning
from perfq.measure.result.load import Load

#: Null, or nothing at all, is their answer, not a lack of one.
_NO_FIGURES: Final = (
    "/load/limited_by",
    "/load/cause",
    "/load/errors",
    "/load/error_samples",
    "/load/timeline",
    "/load/slo",
    "/load/series",
    "/load/segments",
    "/load/priority_levels",
    "/load/server/requests",
)


def reasons(
    latency: Mapping[LatencyName, Latency | None], process: Processes, load: Load, server: str | None
) -> Iterator[ResultWarning]:
    """A warning for each null. `server`: why the target's own metrics are."""
    for pointer in _nulls(latency, process, load):
        why = server if pointer == "/load/server" and server is not None else _why(pointer, load)
        yield ResultWarning(code="unknown", text=why, field=pointer)


def _nulls(latency: Mapping[LatencyName, Latency | None], process: Processes, load: Load) -> Iterator[str]:
    yield from (f"/latency/{name}" for name, one in latency.items() if one is None)
    yield from null_fields("/process", process.plain(), ())
    yield "/api"
    yield from null_fields("/load", load.plain(), _NO_FIGURES)


def _why(pointer: str, load: Load) -> str:
    if pointer == "/api":
        return "it is the account of a client under test, and a load has none"
    if pointer == "/process/client":
        return "a load has no client under test"
    if pointer.startswith("/process"):
        return "too few samples of this process"
    if not load.segments:
        return "the load never began"
    if pointer == "/latency/response" and load.closed:
        return "in a closed loop no request is due at an instant of its own"
    if pointer == "/latency/order_wait":
        return "no request waited for a former one on the same object"
    if pointer.startswith("/latency"):
        return "no request was sent"
    if pointer.startswith("/load/watches/"):
        return "no watch was opened, or none came to that"
    if pointer.endswith(("/p99", "/p999")):
        return "p99 needs 100 samples and p99.9 needs 1,000"
    return _WHY.get(pointer) or "the run was cut short"


_WHY: Final = {
    "/load/requested_rate": "a closed loop asks for no rate, and a plan without a length has none",
    "/load/connections/stream_limit": "HTTP/1.1 has no streams",
    "/load/connections/handshake": "no handshake was recorded",
    "/load/error_share": "no request came to an end",
    "/load/answered_rate": "it is of one open loop of at least three seconds that ran to its end",
    "/load/engine_cpu_share": "it was not recorded",
    "/load/engine_cpu_seconds": "it was not recorded",
}
