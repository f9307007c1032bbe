"""A failure that this kind of client can never meet is refused; a log that trickles is opened and closed."""

from __future__ import annotations

import time
from typing import Any

import pytest
from tests.unit.drive.waiting import Kept

from perfq.errors import UsageError
from perfq.profile.client import ClientDefinition
from perfq.profile.client_files import load_client_named
from perfq.replay import failures
from perfq.replay.failures import NEEDS, FailureScenes, refuse_what_cannot_be_exercised

ABLE = {
    "viewer": set(NEEDS),
    "watch": {"gone", "throttled"},
    "generic": {"gone", "throttled"},
    "kubectl-watch": {"gone", "throttled"},
}


def profile(*kinds: str) -> dict[str, Any]:
    return {"failures": [{"kind": kind, "at_event": i + 1} for i, kind in enumerate(kinds)]}


@pytest.mark.parametrize(("name", "kind"), [(name, kind) for name in ABLE for kind in NEEDS])
def test_a_kind_of_client_meets_what_it_can_and_is_refused_the_rest(name: str, kind: str) -> None:
    client = load_client_named(name)
    if kind in ABLE[name]:
        refuse_what_cannot_be_exercised(profile(kind), client)
        return
    with pytest.raises(UsageError, match=f"^failures.1.kind: client '{name}' cannot exercise '{kind}'") as refused:
        refuse_what_cannot_be_exercised(profile("gone", kind), client)
    assert NEEDS[kind] in str(refused.value)


def test_a_profile_without_failures_fits_every_client() -> None:
    refuse_what_cannot_be_exercised(profile(), load_client_named("watch"))


class Session:
    """What the scenes use of a session: terminal, recorder, options and marks in one."""

    def __init__(self, client: ClientDefinition) -> None:
        self.client = client
        self.options = self.terminal = self
        self.recorder = Kept()
        self.lines: list[str] = []
        self.did: list[object] = []

    def mark(self, name: str) -> None:
        self.did.append(name)

    def key(self, name: str) -> bytes:
        return f"<{name}>".encode()

    def write(self, data: bytes) -> int:
        self.did.append(data)
        return 1

    def wait_screen(self, pattern: str, timeout_s: float) -> dict[str, Any] | None:
        return {"t": 2}

    def screen(self) -> dict[str, Any]:
        return {"lines": self.lines}


class Part:
    """Input or probes: how often they were told to pause and to go on."""

    def __init__(self, did: list[object]) -> None:
        self._did = did

    def pause(self) -> None:
        self._did.append("pause")

    def resume(self) -> None:
        self._did.append("resume")


def injected(*kinds: str) -> Any:
    return {"faults": {kind: {"injected": 1, "exercised": 0} for kind in kinds}}


@pytest.fixture
def session() -> Session:
    return Session(load_client_named("viewer"))


@pytest.fixture
def scenes(session: Session) -> FailureScenes:
    it: Any = session
    return FailureScenes(it)


OPENED = ["pause", "log_opening", b"l", "log_open"]
CLOSED = ["log_closing", b"<escape>", "log_closed"]


def test_the_log_is_opened_once_logs_trickle_and_closed_after_its_time(
    session: Session, scenes: FailureScenes, monkeypatch: pytest.MonkeyPatch
) -> None:
    keys: Any = Part(session.did)
    scenes.during(injected(), keys, None)
    assert session.did == []
    scenes.during(injected("slow_logs"), keys, None)
    scenes.during(injected("slow_logs"), keys, None)
    assert session.did == OPENED
    later = time.monotonic() + failures.LOG_OPEN_S + 1
    monkeypatch.setattr(time, "monotonic", lambda: later)
    for _ in range(3):
        scenes.during(injected("slow_logs"), keys, None)
    assert session.did == [*OPENED, *CLOSED, "resume"]


def test_a_log_that_is_open_when_the_churn_ends_is_closed_once(session: Session, scenes: FailureScenes) -> None:
    keys: Any = Part(session.did)
    scenes.during(injected("slow_logs"), keys, None)
    scenes.finish()
    scenes.finish()
    assert session.did == [*OPENED, *CLOSED]


def test_without_a_log_nothing_is_closed(session: Session, scenes: FailureScenes) -> None:
    scenes.during(injected("gone"), None, None)
    scenes.finish()
    assert session.did == []


def test_in_how_many_places_access_was_refused_is_recorded_when_it_changes(
    session: Session, scenes: FailureScenes
) -> None:
    session.lines = ["nodes: 403 forbidden", "pods 1000"]
    scenes.during(injected(), None, None)
    assert session.recorder.lines == [], "not before it was injected"
    for lines in (session.lines, session.lines, ["Forbidden", "error 403", "pod-4030"], ["pods 1000"]):
        session.lines = lines
        scenes.during(injected("forbidden"), None, None)
    assert [(line["ev"], line["rows"]) for line in session.recorder.lines] == [
        ("forbidden", 1),
        ("forbidden", 2),
        ("forbidden", 0),
    ]
