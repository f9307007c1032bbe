"""LISTs and WATCHes of each (kind, scope): which were due to a dropped watch, and which were too many.

A reconnect is the WATCH that recovers a dropped one, not every re-opened one; a re-list is the LIST
after a 410. A watch that ended by its own timeout may be opened again, as every informer does. What is
polled because it cannot be watched (metrics.k8s.io) is no scope.

What a scenario asks for is the person's wish, not the client's. It ends with its screen, which a client may
show before it has all that it asked for: the WATCH that follows a scenario's LIST is the scenario's too, and
so are the LIST and the WATCH of a scope whose watch the client ended during a scenario, one of each.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from perfq.measure.recording import Recording
from perfq.measure.replay_samples import Request

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
    #: A scenario closed the scope, or asked for it: what of its LIST and WATCH has not come yet.
    list_asked: bool = False
    watch_asked: bool = False

    def disturbed(self, *, expired: bool) -> None:
        """A watch was dropped, or a request refused: one LIST and one WATCH may follow."""
        self.list_may_follow = True
        self.dropped = True
        self.expired = self.expired or expired

    def closed(self) -> None:
        """A scenario had the client end its watch: it may list and watch again."""
        self.list_asked = self.watch_asked = True

    def listed(self, *, asked: bool = False) -> None:
        """A LIST was answered; `asked`: a scenario was under way."""
        asked = asked or self.list_asked
        if self.list_may_follow:
            self.relists += self.expired
        elif not asked:
            self.lists += 1
        self.watch_asked = self.watch_asked or asked
        self.list_may_follow = self.expired = self.list_asked = False

    def watched(self, *, asked: bool = False) -> None:
        """A WATCH was opened; `asked`: a scenario was under way."""
        if self.dropped:
            self.reconnects += 1
        elif not (self.timed_out or asked or self.watch_asked):
            self.watches += 1
        self.dropped = self.timed_out = self.watch_asked = False


def accounts(recording: Recording) -> dict[Key, ScopeAccount]:
    """The account of each scope that was listed or watched with success."""
    found: dict[Key, ScopeAccount] = {}
    for one in sorted(_happenings(recording), key=lambda one: one.t):
        scope = found.setdefault(one.key, ScopeAccount())
        match one.what:
            case "listed":
                scope.listed(asked=one.asked)
            case "watched":
                scope.watched(asked=one.asked)
            case "expired":
                scope.disturbed(expired=True)
            case "dropped":
                scope.disturbed(expired=False)
            case "timeout":
                scope.timed_out = True
            case "client" if one.asked:
                scope.closed()
    return found


@dataclass(frozen=True)
class _Happening:
    t: int
    key: Key
    what: str
    #: A scenario was under way.
    asked: bool


def _happenings(recording: Recording) -> Iterator[_Happening]:
    for w, opened in recording.watch_opens.items():
        key = (opened.group, opened.kind, opened.scope)
        yield _Happening(opened.t, key, "watched", recording.in_scenario(opened.t))
        end = recording.watch_ends.get(w)
        if end is not None and end.why is not None:
            what = "dropped" if end.why in DROPPED - {"expired"} else end.why
            yield _Happening(end.t, key, what, recording.in_scenario(end.t))
    for request in recording.requests:
        happened = _of_request(request)
        if happened is not None:
            key = (request.group, request.kind, request.scope)
            yield _Happening(request.done, key, happened, recording.in_scenario(request.t))


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
