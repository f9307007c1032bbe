"""When is a failure shown to be handled? The six predicates of the failure profiles, clause by clause."""

from __future__ import annotations

from array import array
from collections.abc import Callable
from itertools import pairwise
from statistics import median
from typing import Final

from perfq.measure.failures.case import Case
from perfq.measure.failures.clause import Clause
from perfq.measure.figures import figures
from perfq.measure.phases import SECOND
from perfq.measure.rendering import pod_scopes

METRICS_GROUP: Final = "metrics.k8s.io"
#: A gap between polls may be shorter than the pace by this share.
POLL_JITTER: Final = 0.8
#: The window of the throttled and forbidden predicates.
WINDOW_NS: Final = 30 * SECOND
MAX_THROTTLED_REQUESTS: Final = 6
SLOW_INPUT_P95_NS: Final = SECOND
#: How long the server is slow.
SLOW_NS: Final = 10 * SECOND


def gone(case: Case) -> list[Clause]:
    """The watch is re-established from a new LIST, and nothing of the gap was missed.

    The extra Pod that was deleted in the gap is in no hash: where it is still in the store or the
    table, their digests differ from the expected one.
    """
    return [
        Clause("the client lists again after the 410", case.relists >= 1),
        Clause("store and table end as expected, without the Pod that was deleted in the gap", case.digests.match),
    ]


def throttled(case: Case) -> list[Clause]:
    """Retry-After is a floor, and there is no storm."""
    pods = [one for one in case.requests("", "pods") if one.t >= case.injected]
    refused = [one for one in pods if one.status == 429]
    # The same scope is meant: a request that was on its way when another scope was refused is no retry.
    early = [
        one
        for no in refused
        for one in pods
        if one.scope == no.scope and no.done <= one.t < no.done + round((no.retry_after or 0) * SECOND)
    ]
    soon = [one for one in pods if one.t <= case.injected + WINDOW_NS]
    return [
        Clause("a Pod LIST or WATCH was refused with 429", bool(refused)),
        Clause(f"no request before its Retry-After ({len(early)} came early)", not early),
        Clause(
            f"at most {MAX_THROTTLED_REQUESTS} Pod LISTs and WATCHes in 30 s ({len(soon)} were seen)",
            len(soon) <= MAX_THROTTLED_REQUESTS,
        ),
        Clause("store and table end as expected", case.digests.match),
    ]


def forbidden(case: Case) -> list[Clause]:
    """The client asks rarely, does not try namespace by namespace, and says it once."""
    nodes = [one for one in case.requests("", "nodes") if one.t >= case.injected]
    first = next((one for one in nodes if one.status == 403), None)
    after = [] if first is None else [one.t for one in nodes if one.t >= first.done]
    crowded = any(later - earlier < WINDOW_NS for earlier, later in pairwise(after))
    before = {
        (one.group, one.kind, one.scope) for one in case.recording.requests if one.t < case.injected and one.scope
    }
    fan_out = [
        one
        for one in case.recording.requests
        if one.t >= case.injected
        and one.verb in ("list", "watch")
        and one.scope
        and (one.group, one.kind, one.scope) not in before
        and not case.recording.in_scenario(one.t)
    ]
    shown = [one.rows or 0 for one in case.recording.screens if one.ev == "forbidden"]
    return [
        Clause("a LIST or WATCH of nodes was refused with 403", first is not None),
        Clause(f"at most 1 node request in 30 s after it ({len(after)} followed)", not crowded),
        Clause(f"no fan-out over namespaces ({len(fan_out)} requests)", not fan_out),
        Clause("the screen says it once", max(shown) == 1 if shown else None),
    ]


def slow(case: Case) -> list[Clause]:
    """The client stays usable while the server is slow, falls behind, and catches up."""
    end = min(case.churn_end, case.ended or case.injected + SLOW_NS)
    inside = array("q", (value for at, value in case.input if case.injected <= at < end))
    p95 = figures(inside).p95
    backlog, drained = None, None
    if case.depths is not None:
        backlog = case.depths.max_between(case.injected, end) > 0
        before = case.depths.median(max(case.t0, case.injected - 10 * SECOND), case.injected)
        drained = case.depths.back_at(before, end) is not None
    return [
        Clause("input p95 in the window is at most 1 s", None if p95 is None else p95 <= SLOW_INPUT_P95_NS),
        Clause("updates wait in the window", backlog),
        Clause("they are drained after it", drained),
    ]


def metrics_unavailable(case: Case) -> list[Clause]:
    """Keys stay as fast, and the client does not poll a broken API harder."""
    before = array("q", (value for at, value in case.input if at < case.injected))
    after = array("q", (value for at, value in case.input if at >= case.injected))
    p95_before, p95_after = figures(before).p95, figures(after).p95
    as_fast = None if p95_before is None or p95_after is None else p95_after <= 2 * p95_before
    return [
        Clause("input p95 is at most twice that before", as_fast),
        Clause("polls do not speed up", _polls_keep_their_pace(case)),
    ]


def _polls_keep_their_pace(case: Case) -> bool | None:
    """No gap between two polls of a kind is shorter than the pace before, less a fifth for jitter.

    The pace is the median gap up to the first poll that failed: when that one was due was decided before
    the client could know. None where a kind was not polled before and after.
    """
    polled = [one for one in case.recording.requests if one.group == METRICS_GROUP and one.first_page]
    known: list[bool] = []
    for kind in {(one.kind, one.scope, one.name) for one in polled}:
        times = [one.t for one in polled if (one.kind, one.scope, one.name) == kind]
        first = next((index for index, t in enumerate(times) if t >= case.injected), None)
        if first is None or first == 0:
            continue
        pace = median(later - earlier for earlier, later in pairwise(times[: first + 1]))
        known.append(all(later - earlier >= POLL_JITTER * pace for earlier, later in pairwise(times[first:])))
    return all(known) if known else None


def slow_logs(case: Case) -> list[Clause]:
    """The table lives on in every second in which the log is open."""
    begin = case.recording.mark("log_open") or case.injected
    closing = case.recording.mark("log_closing")
    end = min(case.churn_end, closing if closing is not None else case.ended or case.churn_end)
    seconds = (end - begin) // SECOND
    rendered = [
        t
        for scope in pod_scopes(case.recording)
        for t, rows in zip(scope.rendered_t, scope.rendered_rows, strict=True)
        if rows
    ]
    if case.depths is None or seconds < 1:
        return [Clause("rendered grows in every second of the log", None)]
    grew = {(t - begin) // SECOND for t in rendered if begin <= t < end}
    still = [second for second in range(seconds) if second not in grew]
    return [Clause(f"rendered grows in every second of the log ({len(still)} of {seconds} stood still)", not still)]


PREDICATES: Final[dict[str, Callable[[Case], list[Clause]]]] = {
    "gone": gone,
    "throttled": throttled,
    "forbidden": forbidden,
    "slow": slow,
    "metrics_unavailable": metrics_unavailable,
    "slow_logs": slow_logs,
}
