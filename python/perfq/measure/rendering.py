"""What became of the updates: written, received, rendered; two independent parties' counts and times."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from heapq import heappop, heappush

from perfq.measure.commits import CHURN, Commits
from perfq.measure.figures import LatencySamples
from perfq.measure.recording import Recording, Rendering, Writes

PODS = "pods"


def pod_watchers(recording: Recording) -> Iterator[tuple[int, Writes]]:
    """The client's Pod watches and what was written to them."""
    for w, writes in recording.written.items():
        opened = recording.watch_opens.get(w)
        if opened is not None and opened.kind == PODS and opened.group == "":
            yield w, writes


def pod_scopes(recording: Recording) -> Iterator[Rendering]:
    """What the client said of its Pod scopes."""
    return (scope for (kind, _), scope in recording.probe.scopes.items() if kind == PODS)


@dataclass
class UpdateLatencies:
    """The four latencies of updates on their way to the table."""

    written: LatencySamples
    client: LatencySamples
    render: LatencySamples
    commit_render: LatencySamples


def collect(recording: Recording, into: UpdateLatencies) -> None:
    """Fills the latencies from the record. Only events that change a row's cells are samples."""
    commits = recording.commits
    for _, writes in pod_watchers(recording):
        for rv, t in zip(writes.rv, writes.t, strict=True):
            row = _churn_row(commits, rv)
            if row is not None:
                into.written.add(commits.phase_instant(row), t - commits.t[row])
    for scope in pod_scopes(recording):
        for rv, t in zip(scope.received_rv, scope.received_t, strict=True):
            row = _churn_row(commits, rv)
            if row is not None:
                into.client.add(commits.phase_instant(row), t - commits.t[row])
        for rv, received, rendered in rendered_updates(scope):
            row = _churn_row(commits, rv)
            if row is not None:
                at = commits.phase_instant(row)
                into.render.add(at, rendered - received)
                into.commit_render.add(at, rendered - commits.t[row])


def rendered_updates(scope: Rendering) -> Iterator[tuple[int, int, int]]:
    """(rv, received, rendered) of each update that was rendered, coalesced ones included.

    An update is rendered by the first `rendered` line of its scope that comes after its receipt and
    whose rv is not below its own.
    """
    steps = sorted(
        [(t, 0, rv) for rv, t in zip(scope.received_rv, scope.received_t, strict=True)]
        + [(t, 1, rv) for rv, t in zip(scope.rendered_rv, scope.rendered_t, strict=True)]
    )
    waiting: list[tuple[int, int]] = []
    for t, is_rendered, rv in steps:
        if not is_rendered:
            heappush(waiting, (rv, t))
            continue
        while waiting and waiting[0][0] <= rv:
            version, received = heappop(waiting)
            yield version, received, t


@dataclass(frozen=True)
class ClientCounts:
    """What the client says became of the updates it read."""

    received: int
    rendered: int
    coalesced: int
    dropped: int

    @property
    def settled(self) -> int:
        """Updates whose fate is known."""
        return self.rendered + self.coalesced + self.dropped


def delivered(recording: Recording) -> int | None:
    """Events written to the client's Pod watches, by the server's count; None without such a watch."""
    if not any(one.kind == PODS and one.group == "" for one in recording.watch_opens.values()):
        return None
    return sum(len(writes.rv) for _, writes in pod_watchers(recording))


def client_counts(recording: Recording) -> ClientCounts | None:
    """The client's own counts; None where it said nothing of Pods."""
    scopes = list(pod_scopes(recording))
    if not scopes:
        return None
    return ClientCounts(
        received=sum(len(scope.received_rv) for scope in scopes),
        rendered=sum(sum(scope.rendered_rows) for scope in scopes),
        coalesced=sum(n for scope in scopes for _, n in scope.coalesced),
        dropped=sum(n for scope in scopes for _, n in scope.dropped),
    )


def _churn_row(commits: Commits, rv: int) -> int | None:
    row = commits.find(rv)
    return row if row is not None and commits.src[row] in CHURN else None
