"""Why a field is null: one warning for each, with its JSON pointer."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from perfq.measure.client_facts import ClientFacts
from perfq.measure.nulls import null_fields
from perfq.measure.result.common import Api, Latency, LatencyName, Processes, ResultWarning
from perfq.measure.result.replay import Replay

#: Told from inside the client alone.
_INSIDE = ("/latency/event_to_client", "/replay/digests/store", "/replay/digests/match")
#: The same, of its table.
_TABLE = (
    "/latency/event_to_render",
    "/latency/commit_to_render",
    "/replay/start/list_to_populated_ns",
    "/replay/updates/rendered",
    "/replay/updates/coalesced",
    "/replay/updates/dropped",
    "/replay/backlog/max_depth",
    "/replay/digests/table",
)
_SCREEN = ("/latency/event_to_screen", "/replay/start/populated_screen_ns")
#: Null is their answer, not a lack of one.
_NO_FIGURES = ("/replay/client_exit", "/replay/series", "/replay/scenarios", "/replay/failures_injected")


@dataclass(frozen=True)
class Measured:
    """The blocks in which nothing may be null without a reason."""

    latency: dict[LatencyName, Latency | None]
    process: Processes
    api: Api
    replay: Replay


def reasons(measured: Measured, client: ClientFacts, churn_began: bool) -> list[ResultWarning]:
    """A warning for each null."""
    return [
        ResultWarning(code="unknown", text=_why(pointer, client, churn_began), field=pointer)
        for pointer in _nulls(measured)
    ]


def _nulls(measured: Measured) -> Iterator[str]:
    for name, latency in measured.latency.items():
        if latency is None:
            yield f"/latency/{name}"
    for block, document in (("process", measured.process), ("api", measured.api), ("replay", measured.replay)):
        yield from null_fields(f"/{block}", document.plain(), _NO_FIGURES)


def _why(pointer: str, client: ClientFacts, churn_began: bool) -> str:
    if not churn_began and not pointer.startswith(("/replay/start", "/process")):
        return "churn never began"
    if pointer == "/latency/event_to_diff":
        return "every event of this plan changes a rendered cell"
    if pointer in (*_INSIDE, *_TABLE) and not client.has_probe:
        return f"{client.name} does not report from inside (no probe)"
    if pointer in _TABLE and not client.has_table:
        return f"{client.name} keeps no table"
    if pointer in (*_INSIDE, *_TABLE):
        return f"{client.name} reported nothing of it through the probe"
    if pointer in _SCREEN and not client.has_screen:
        return f"{client.name} shows no rows on a terminal"
    if pointer in _SCREEN:
        return "no row of a Pod was seen on the screen"
    if pointer == "/replay/start/interactive_ns" and not client.has_ready:
        return f"the definition of {client.name} has no pattern that tells when it takes keys"
    if pointer == "/latency/input":
        return "no key was pressed" if client.has_cursor else f"{client.name} has no cursor that is recognised"
    return _WHY.get(pointer, _otherwise(pointer))


_WHY = {
    "/latency/commit_lag": "no event of the plan was committed",
    "/latency/event_to_written": "nothing was written to a Pod watch",
    "/replay/start/interactive_ns": "no screen or line of the client said that it was ready",
    "/replay/updates/delivered": "the client opened no Pod watch",
    "/replay/terminal": "nothing was recorded of the terminal",
    "/replay/terminal/idle_cpu_percent": "the client was not left alone: the run is shorter than 20 s, or ended before",
    "/replay/terminal/resize_max_ns": "no change of size was followed by a whole new screen",
}


def _otherwise(pointer: str) -> str:
    if pointer.startswith("/replay/backlog/drain_ns"):
        return "the backlog never came back to its median before this burst"
    if "rss_slope" in pointer:
        return "fewer than two samples after the warm-up"
    if "cpu_percent_max" in pointer:
        return "less than a second of samples"
    if pointer.startswith("/process"):
        return "no sample of this process tree"
    return "not recorded"
