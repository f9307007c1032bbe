"""After the churn a run waits for the client to show the last event, and says so only where it did."""

from __future__ import annotations

from itertools import count
from types import SimpleNamespace
from typing import Any

import pytest
from tests.unit.replay.parts import Client, Session

from perfq.drive.progress import Progress
from perfq.drive.signals import Interruption
from perfq.replay import drain as module
from perfq.replay.drain import drain

HELD = {"store": "d", "table": "d", "t": 1}


def drained(session: Session, interruption: Interruption | None = None) -> bool:
    it: Any = session
    ended = drain(it, Progress(quiet=True), interruption or Interruption(), "d")
    assert session.marks() == (["drained"] if ended else [])
    return ended


def probed(client: str = "viewer", **said: Any) -> Session:
    session = Session(client, Client(), None)
    session.said = {"backlog": 0, "digest": HELD, **said}
    return session


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "DRAIN_TIMEOUT_S", 0.05)


def test_a_client_that_holds_and_shows_what_it_should_is_drained() -> None:
    assert drained(probed())


@pytest.mark.parametrize(
    "said",
    [{"backlog": 1}, {"digest": None}, {"digest": {**HELD, "store": "x"}}, {"digest": {**HELD, "table": "x"}}],
)
def test_one_that_is_behind_or_holds_something_else_is_not(said: dict[str, Any], impatient: None) -> None:
    assert not drained(probed(**said))


def test_a_client_without_a_table_needs_none() -> None:
    assert drained(probed("watch", digest={"store": "d", "table": None, "t": 1}))


def test_it_is_waited_for() -> None:
    session = probed(backlog=3)
    readings = iter([{"backlog": 3, "digest": HELD}, {"backlog": 1, "digest": HELD}])
    session.probe = SimpleNamespace(progress=lambda: next(readings, {"backlog": 0, "digest": HELD}))
    assert drained(session)
    assert next(readings, None) is None


def test_neither_a_signal_nor_the_end_of_the_client_is_a_drained_one() -> None:
    interruption = Interruption()
    interruption.set("SIGINT")
    assert not drained(probed(), interruption)
    ended = probed(backlog=1)
    ended.terminal.exited = {"code": 0, "signal": None}
    assert not drained(ended)


def test_without_a_probe_a_client_is_drained_once_its_open_watches_are_quiet(impatient: None) -> None:
    session = Session("generic", Client(), None)
    written = count()

    session.server = SimpleNamespace(progress=lambda: {"watches": [{"open": True, "events": next(written)}]})
    assert not drained(session), "something is written all the time"
    module.DRAIN_TIMEOUT_S = 15.0
    session.server = SimpleNamespace(
        progress=lambda: {"watches": [{"open": True, "events": 5}, {"open": False, "events": next(written)}]}
    )
    assert drained(session)
