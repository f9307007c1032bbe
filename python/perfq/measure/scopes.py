"""LISTs and WATCHes of each (kind, scope): which were due to a dropped watch, and which were too many.

A reconnect is the WATCH that recovers a dropped one, not every re-opened one; a re-list is the LIST
after a 410. A watch that ended by its own timeout may be opened again, as every informer does. What is
polled because it cannot be watched (metrics.k8s.io) is no scope, and what a scenario asks for is the
person's wish, not the client's.
"""

from __future__ import annotations

from dataclasses import dataclass

from perfq.measure.recording import Recording
from perfq.measure.samples import Request

Key = tuple[str, str, str]
#: Ends of a watch that the client did not bring about and has to recover from.
DROPPED = frozenset({"expired", "slow", "fault", "shutdown"})


@dataclass
class ScopeAccount:
    """What one (group, kind, namespace) saw."""

    lists: int = 0
    watches: int = 0
    relists: int = 0
    reconnects: int = 0
    list_may_follow: bool = False
    expired: bool = False
    dropped: bool = False
    timed_out: bool = False

    def disturbed(self, *, expired: bool) -> None:
        """A watch was dropped, or a request refused: one LIST and one WATCH may follow."""
        self.list_may_follow = True
        self.dropped = True
        self.expired = self.expired or expired

    def listed(self) -> None:
        """A LIST was answered."""
        if not self.list_may_follow:
            self.lists += 1
        elif self.expired:
            self.relists += 1
        self.list_may_follow = self.expired = False

    def watched(self) -> None:
        """A WATCH was opened."""
        if self.dropped:
            self.reconnects += 1
        elif not self.timed_out:
            self.watches += 1
        self.dropped = self.timed_out = False


def accounts(recording: Recording) -> dict[Key, ScopeAccount]:
    """The account of each scope that was listed or watched with success."""
    found: dict[Key, ScopeAccount] = {}
    for _, key, happened in sorted(_happenings(recording), key=lambda one: one[0]):
        scope = found.setdefault(key, ScopeAccount())
        match happened:
            case "listed":
                scope.listed()
            case "watched":
                scope.watched()
            case "expired":
                scope.disturbed(expired=True)
            case "dropped":
                scope.disturbed(expired=False)
            case "timeout":
                scope.timed_out = True
    return found


def _happenings(recording: Recording) -> list[tuple[int, Key, str]]:
    found: list[tuple[int, Key, str]] = []
    for w, opened in recording.watch_opens.items():
        if recording.in_scenario(opened.t):
            continue
        key = (opened.group, opened.kind, opened.scope)
        found.append((opened.t, key, "watched"))
        end = recording.watch_ends.get(w)
        if end is None:
            continue
        if end.why in DROPPED:
            found.append((end.t, key, "expired" if end.why == "expired" else "dropped"))
        elif end.why == "timeout":
            found.append((end.t, key, "timeout"))
    for request in recording.requests:
        happened = _of_request(request)
        if happened is not None and not recording.in_scenario(request.t):
            found.append((request.done, (request.group, request.kind, request.scope), happened))
    return found


def _of_request(request: Request) -> str | None:
    # metrics.k8s.io cannot be watched: its LISTs are polls, and no part of a LIST+WATCH pair.
    if request.verb not in ("list", "watch") or request.klass != "api":
        return None
    # A watch of a version that is too old is answered as kube-apiserver does: by a 410 in its stream.
    if request.status == 410 or (request.verb == "watch" and request.status == 200 and request.objects == 0):
        return "expired"
    if request.verb == "list" and request.status < 400 and request.first_page:
        return "listed"
    return None
