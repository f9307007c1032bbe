"""The watch manager of a scope against a server that follows a script, on a clock that nobody waits for."""

from __future__ import annotations

import json
import random
import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import pairwise

import pytest

from perfq.probe import Probe
from perfq.viewer.inbox import Batch, Events, Inbox, ListComplete, ListPage, ListStarted, Problem
from perfq.viewer.kinds import NODES, PODS, Kind, Scope
from perfq.viewer.transport import Rejected, Stream, Unreachable
from perfq.viewer.watch import Clock, Link, ScopeWatcher


def pod(name: str, version: int, namespace: str = "a") -> str:
    return json.dumps({"metadata": {"name": name, "namespace": namespace, "resourceVersion": str(version)}})


def page(*pods: str, version: int = 10, following: str = "") -> bytes:
    meta = {"resourceVersion": str(version), **({"continue": following} if following else {})}
    return f'{{"metadata":{json.dumps(meta)},"items":[{",".join(pods)}]}}'.encode()


def event(kind: str, item: str) -> bytes:
    return f'{{"type":"{kind}","object":{item}}}\n'.encode()


def gone() -> bytes:
    return event("ERROR", '{"kind":"Status","status":"Failure","code":410,"reason":"Expired","message":"too old"}')


OVER = "the script is over"


@dataclass
class Time:
    """A clock that jumps ahead whenever someone waits."""

    at: float = 0.0

    def wait(self, _stop: threading.Event, seconds: float) -> bool:
        self.at += seconds
        return False


@dataclass
class Request:
    """What was asked, and when."""

    at: float
    path: str
    query: dict[str, str]

    @property
    def is_watch(self) -> bool:
        return "watch" in self.query


@dataclass
class Watch:
    """A stream: its pieces, how long it stays open, how it ends."""

    pieces: list[bytes] = field(default_factory=list)
    seconds: float = 60.0
    error: Exception | None = None


Answer = bytes | Watch | Exception


class Script:
    """Answers requests in turn; a request beyond the last one stops the manager."""

    def __init__(self, time: Time, answers: list[Answer]) -> None:
        self.time = time
        self.answers = answers
        self.requests: list[Request] = []
        self.refreshed = 0
        self.can_refresh = False
        self.manager: ScopeWatcher | None = None

    def _next(self, path: str, query: Mapping[str, str] | None) -> Answer:
        if not self.answers:
            assert self.manager is not None
            self.manager.stop()
            raise Unreachable(OVER)
        self.requests.append(Request(self.time.at, path, dict(query or {})))
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer

    def get(self, path: str, query: Mapping[str, str] | None = None) -> bytes:
        answer = self._next(path, query)
        assert isinstance(answer, bytes), f"a LIST, where the script has {answer}"
        return answer

    def stream(self, path: str, query: Mapping[str, str]) -> Stream:
        answer = self._next(path, query)
        assert isinstance(answer, Watch), f"a WATCH, where the script has {answer!r}"
        return _Scripted(self.time, answer)

    def refresh(self) -> bool:
        self.refreshed += 1
        return self.can_refresh


@dataclass
class _Scripted:
    time: Time
    watch: Watch

    def chunks(self) -> Iterator[bytes]:
        yield from self.watch.pieces
        self.time.at += self.watch.seconds
        if self.watch.error is not None:
            raise self.watch.error

    def close(self) -> None:
        pass


def play(*answers: Answer, kind: Kind = PODS, can_refresh: bool = False) -> tuple[Script, list[Batch]]:
    """Runs a manager through the script; gives the requests and what came into the inbox."""
    time = Time()
    script = Script(time, list(answers))
    script.can_refresh = can_refresh
    inbox = Inbox(lambda: None)
    link = Link(script, inbox, Probe(None), Clock(lambda: time.at, time.wait), random.Random(7))
    script.manager = ScopeWatcher(kind, Scope(kind.name), link)
    script.manager.run()
    return script, inbox.take(1_000_000)


def of(batches: list[Batch], kind: type) -> list[Batch]:
    return [batch for batch in batches if isinstance(batch, kind)]


def problems(batches: list[Batch]) -> list[str | None]:
    return [batch.text for batch in batches if isinstance(batch, Problem) and batch.text != OVER]


def test_one_list_in_pages_of_500_then_one_watch_from_its_version() -> None:
    script, batches = play(page(pod("x", 1), following="more"), page(pod("y", 2)), Watch())
    first, second, watch = script.requests
    assert [request.path for request in script.requests] == ["/api/v1/pods"] * 3
    assert first.query == {"limit": "500"}
    assert second.query == {"limit": "500", "continue": "more"}
    assert watch.query["watch"] == "true"
    assert watch.query["allowWatchBookmarks"] == "true"
    assert watch.query["resourceVersion"] == "10"
    started, page_1, page_2, complete = batches[:4]
    assert isinstance(started, ListStarted)
    assert isinstance(page_1, ListPage)
    assert isinstance(page_2, ListPage)
    assert complete == ListComplete(Scope("pods"), "10", 2)


def test_events_keep_their_order_also_where_a_read_cuts_them() -> None:
    text = event("ADDED", pod("x", 11)) + event("MODIFIED", pod("x", 12)) + event("DELETED", pod("x", 13))
    pieces = [text[:30], text[30:31], text[31:200], text[200:]]
    _, batches = play(page(), Watch(pieces))
    changes = [change for batch in of(batches, Events) for change in batch.changes]  # type: ignore[union-attr]
    assert [key for key, _ in changes] == [("a", "x")] * 3
    assert [record is None for _, record in changes] == [False, False, True]
    assert of(batches, Events)[-1].version == "13"  # type: ignore[union-attr]


def test_a_watch_that_ends_in_good_order_goes_on_from_the_last_version_bookmarks_included() -> None:
    script, batches = play(
        page(),
        Watch([event("MODIFIED", pod("x", 11))]),
        Watch([event("BOOKMARK", '{"kind":"Pod","metadata":{"resourceVersion":"40"}}')]),
        Watch(),
    )
    assert [request.query.get("resourceVersion") for request in script.requests] == [None, "10", "11", "40"]
    assert problems(batches) == []
    assert len(of(batches, Events)) == 1, "a bookmark is no event"


@pytest.mark.parametrize(
    "answer", [Watch([gone()]), Rejected(410, "too old resource version")], ids=["ERROR", "status"]
)
def test_an_expired_version_is_followed_by_one_new_list_at_once_and_nothing_is_said(answer: Answer) -> None:
    script, batches = play(page(), answer, page(version=50), Watch())
    assert [request.is_watch for request in script.requests] == [False, True, False, True]
    assert script.requests[2].at - script.requests[1].at <= 60.0
    assert script.requests[3].query["resourceVersion"] == "50"
    assert problems(batches) == []


def test_events_before_an_error_are_kept() -> None:
    _, batches = play(page(), Watch([event("MODIFIED", pod("x", 11)) + gone()]), page(version=50), Watch())
    assert len(of(batches, Events)) == 1
    assert len(of(batches, ListComplete)) == 2


def test_versions_that_expire_again_and_again_are_not_listed_in_a_loop() -> None:
    answers: list[Answer] = []
    for _ in range(6):
        answers += [page(), Watch([gone()], seconds=0)]
    script, _ = play(*answers)
    lists = [request.at for request in script.requests if not request.is_watch]
    assert lists[1] == lists[0], "the first at once"
    assert lists[-1] >= 1 + 2 + 4 + 8


def test_a_continue_token_that_expires_begins_a_new_list() -> None:
    script, batches = play(page(pod("x", 1), following="more"), Rejected(410, "expired"), page(pod("y", 2)), Watch())
    assert script.requests[2].query == {"limit": "500"}
    assert len(of(batches, ListStarted)) == 2
    assert len(of(batches, ListComplete)) == 1


def test_throttled_no_request_comes_before_its_retry_after_and_at_most_six_in_thirty_seconds() -> None:
    busy = Rejected(429, "Too Many Requests", retry_after=1.0)
    script, batches = play(page(), Watch(seconds=20), busy, busy, busy, Watch())
    at = [request.at for request in script.requests[2:]]
    assert all(later - earlier >= 1.0 for earlier, later in pairwise(at))
    assert len(at) == 4
    assert at[-1] - at[0] < 30
    assert problems(batches) == ["429 Too Many Requests", None], "said once, and taken back once"


def test_a_server_that_never_stops_throttling_gets_six_requests_in_thirty_seconds() -> None:
    script, _ = play(*[Rejected(429, "slow down", retry_after=1.0) for _ in range(20)])
    at = [request.at for request in script.requests]
    assert all(sum(start <= one < start + 30 for one in at) <= 6 for start in at)


def test_forbidden_is_asked_again_once_in_thirty_seconds_and_said_once() -> None:
    refused = Rejected(403, 'nodes is forbidden: User "u" cannot list resource "nodes"')
    script, batches = play(page(), Watch(), refused, refused, refused, refused, kind=NODES)
    at = [request.at for request in script.requests[2:]]
    assert all(later - earlier >= 30 for earlier, later in pairwise(at))
    assert {request.path for request in script.requests} == {"/api/v1/nodes"}, "no request for each namespace"
    assert problems(batches) == ['403 nodes is forbidden: User "u" cannot list resource "nodes"']


def test_an_expired_token_is_renewed_once_and_then_said() -> None:
    script, batches = play(page(), Watch(), Rejected(401, "Unauthorized"), Watch(), can_refresh=True)
    assert script.refreshed == 1
    assert problems(batches) == []
    script, batches = play(Rejected(401, "Unauthorized"), Rejected(401, "Unauthorized"), page(), Watch())
    assert script.refreshed == 1
    assert problems(batches) == ["401 Unauthorized: the token has expired or is not accepted", None]


def test_a_connection_that_is_refused_is_said_once_and_tried_again_ever_less_often() -> None:
    refused = Unreachable("connection refused")
    script, batches = play(refused, refused, refused, refused, page(), Watch())
    at = [request.at for request in script.requests[:5]]
    waits = [later - earlier for earlier, later in pairwise(at)]
    assert waits == sorted(waits)
    assert problems(batches) == ["connection refused", None]


def test_a_dropped_watch_is_opened_again_from_its_version_without_a_list() -> None:
    cut = Watch([event("MODIFIED", pod("x", 11))], error=Unreachable("connection reset"))
    script, batches = play(page(), cut, Watch())
    assert [request.is_watch for request in script.requests] == [False, True, True]
    assert script.requests[2].query["resourceVersion"] == "11"
    assert problems(batches) == ["connection reset", None]


def test_watches_that_end_at_once_are_not_opened_in_a_loop() -> None:
    script, _ = play(page(), *[Watch(seconds=0) for _ in range(6)])
    at = [request.at for request in script.requests[1:]]
    assert at[-1] >= 1 + 2 + 4 + 8 + 16


def test_after_a_long_healthy_watch_the_next_failure_is_a_first_one() -> None:
    lost = Unreachable("no answer in time")
    script, _ = play(lost, lost, lost, page(), Watch(seconds=100, error=lost), Watch())
    before, after = script.requests[4], script.requests[5]
    assert 1 <= after.at - (before.at + 100) < 2


def test_an_answer_that_cannot_be_read_is_said_and_listed_again() -> None:
    script, batches = play(b"<html>", page(), Watch([b"{nonsense\n"]), page(), Watch())
    assert [request.is_watch for request in script.requests] == [False, False, True, False, True]
    said = problems(batches)
    assert said[0] is not None
    assert said[0].startswith("the answer could not be read")


def test_every_event_is_told_to_the_probe_and_no_bookmark_is() -> None:
    seen: list[str] = []

    class Counting(ScopeWatcher):
        def received(self, version: str, at: int) -> None:
            seen.append(version)

    time = Time()
    text = event("ADDED", pod("x", 11)) + event("BOOKMARK", '{"metadata":{"resourceVersion":"12"}}')
    script = Script(time, [page(pod("w", 1)), Watch([text, event("DELETED", pod("x", 13))])])
    link = Link(script, Inbox(lambda: None), Probe(None), Clock(lambda: time.at, time.wait), random.Random(7))
    script.manager = Counting(PODS, Scope("pods"), link)
    script.manager.run()
    assert seen == ["11", "13"]
