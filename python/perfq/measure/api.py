"""What the server saw of the client: requests by (kind, scope) and by path, and what was too many."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from perfq.measure.recording import Recording
from perfq.measure.replay_samples import Request, Totals
from perfq.measure.result.common import Api, Operation, PathFigures
from perfq.measure.scopes import ScopeAccount, accounts


def account(recording: Recording) -> Api:
    """The accounting of the client's requests up to the end of the record."""
    by_scope = accounts(recording)
    return Api(
        operations=_operations(recording),
        by_path=_by_path(recording.totals),
        decoded_bytes=_decoded_bytes(recording),
        watch_events=sum(len(writes.rv) for writes in recording.written.values()),
        reconnects=sum(one.reconnects for one in by_scope.values()),
        relists=sum(one.relists for one in by_scope.values()),
        lists_per_scope_max=_most(by_scope.values(), lambda one: one.lists),
        watches_per_scope_max=_most(by_scope.values(), lambda one: one.watches),
        throttles=sum(one.status == 429 for one in recording.requests),
        authorization_failures=sum(one.status in (401, 403) for one in recording.requests),
        unexpected_gets=len(unexpected_gets(recording)),
    )


def unexpected_gets(recording: Recording) -> list[Request]:
    """GETs of one object of a served kind outside every scenario.

    Discovery, OpenAPI, access reviews and logs are classes of their own, and no such GETs.
    """
    return [
        one
        for one in recording.requests
        if one.verb == "get" and one.klass == "api" and one.name and not recording.in_scenario(one.t)
    ]


def operation_name(verb: str, group: str, kind: str, scope: str) -> str:
    """`list pods`, `list pods.metrics.k8s.io`, `watch pods in bench-0001`."""
    resource = f"{kind}.{group}" if group else kind
    return f"{verb} {resource} in {scope}" if scope else f"{verb} {resource}"


@dataclass
class _Sums:
    count: int = 0
    pages: int = 0
    bytes: int = 0
    objects: int = 0
    errors: int = 0

    def add(self, request: Request) -> None:
        self.pages += 1
        self.count += request.first_page
        self.bytes += request.bytes or 0
        self.objects += request.objects or 0
        self.errors += request.status >= 400


def _operations(recording: Recording) -> dict[str, Operation]:
    sums: dict[str, _Sums] = {}
    for request in recording.requests:
        if request.klass in ("api", "log", "metrics") and request.kind:
            name = operation_name(request.verb, request.group, request.kind, request.scope)
            sums.setdefault(name, _Sums()).add(request)
    for w, end in recording.watch_ends.items():
        opened = recording.watch_opens.get(w)
        if opened is not None:
            name = operation_name("watch", opened.group, opened.kind, opened.scope)
            sums.setdefault(name, _Sums()).bytes += end.bytes or 0
    return {
        name: Operation(count=one.count, pages=one.pages, bytes=one.bytes, objects=one.objects, errors=one.errors)
        for name, one in sorted(sums.items())
    }


def _by_path(totals: Totals | None) -> dict[str, PathFigures]:
    """`list /api/v1/namespaces/{namespace}/pods`, by the server's own last accounting."""
    operations = [] if totals is None else totals.operations
    return {
        f"{one.verb} {one.path}": PathFigures(
            requests=one.requests, bytes=one.bytes, statuses=dict(sorted(one.statuses.items()))
        )
        for one in sorted(operations, key=lambda one: (one.path, one.verb))
    }


def _decoded_bytes(recording: Recording) -> int:
    answers = sum(one.bytes or 0 for one in recording.requests)
    return answers + sum(one.bytes or 0 for one in recording.watch_ends.values())


def _most(scopes: Iterable[ScopeAccount], of: Callable[[ScopeAccount], int]) -> int:
    return max((of(one) for one in scopes), default=0)
