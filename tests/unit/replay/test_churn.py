"""The churn goes on while input samples are missing, by whole seconds, and is then exactly a longer plan."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.replay.parts import Client, Session

from perfq._core import ApiServer
from perfq.drive.progress import Progress
from perfq.drive.signals import Interruption
from perfq.drive.stop import StopLimits
from perfq.replay.churn import Churn, ChurnEnd, extension

SHORT = ("duration_seconds=1", "bursts=[]")


@given(st.integers(1, 1000), st.integers(0, 1000), st.floats(0.1, 1000), st.integers(1, 60))
def test_an_extension_is_whole_seconds_within_the_room(remaining: int, done: int, elapsed_s: float, room: int) -> None:
    more = extension(remaining, done, elapsed_s, room)
    assert 1 <= more <= room
    assert more == room or more >= remaining * min(elapsed_s / max(done, 1), 1.0)


def test_nothing_is_asked_for_where_nothing_is_missing_or_no_room_is_left() -> None:
    assert extension(0, 50, 30.0, 60) == 0
    assert extension(5, 45, 30.0, 0) == 0


def test_missing_pairs_take_what_the_others_took_and_a_second_at_most() -> None:
    assert extension(10, 40, 30.0, 60) == 8
    assert extension(10, 2, 30.0, 60) == 10
    assert extension(50, 0, 30.0, 60) == 50
    assert extension(200, 0, 30.0, 60) == 60


@contextmanager
def served(client: Client, **options: Any) -> Iterator[Session]:
    session = Session("viewer", client, None, assignments=(*SHORT, *options.pop("also", ())), probes=0, **options)
    with ExitStack() as stack:
        session.server = stack.enter_context(ApiServer.start({"plan": session.options.plan, "tls": False}))
        yield session


def ran(session: Session, interruption: Interruption | None = None) -> ChurnEnd:
    it: Any = session
    return Churn(it, Progress(quiet=True), interruption or Interruption()).run()


def test_a_client_that_keeps_up_needs_no_extension() -> None:
    with served(Client(), pairs=5) as session:
        end = ran(session)
        assert (end.extended_seconds, end.stop, end.client_exited) == (0, None, False)
        assert end.expected_digest == session.options.plan.final_hash == session.server.digest()
    assert session.marks() == ["churn_start", "churn_end"]
    assert sum(line["k"] == "input" for line in session.recorder.lines) == 10


def test_a_slow_client_gets_more_seconds_and_the_digest_is_that_of_the_longer_plan() -> None:
    with served(Client(key_s=0.1), pairs=7) as session:
        end = ran(session)
        assert end.extended_seconds >= 1
        longer = session.options.plan.extended(end.extended_seconds)
        assert end.expected_digest == longer.final_hash == session.server.digest()
        assert session.server.progress()["churn"]["committed"] == longer.events
    marks = [line for line in session.recorder.lines if line["k"] == "mark" and line["name"] == "extended"]
    assert marks[-1]["seconds"] == end.extended_seconds
    assert sum(line["k"] == "input" for line in session.recorder.lines) == 14


def test_without_steady_events_nothing_can_be_extended() -> None:
    with served(Client(key_s=0.2), pairs=5, also=("steady_events_per_second=0",)) as session:
        assert ran(session).extended_seconds == 0


def test_an_extension_that_comes_too_late_is_none() -> None:
    with served(Client(key_s=0.2), pairs=5) as session:
        real = session.server

        def late(seconds: int) -> None:
            raise ValueError("the churn has ended")

        session.server = SimpleNamespace(start_churn=real.start_churn, progress=real.progress, extend=late)
        end = ran(session)
        assert end.extended_seconds == 0
        assert end.expected_digest == session.options.plan.final_hash
    assert "extended" not in session.marks()


def test_a_client_that_ends_ends_the_churn() -> None:
    client = Client()
    client.exited = {"code": 1, "signal": None}
    with served(client) as session:
        assert ran(session).client_exited
    assert session.marks() == ["churn_start", "churn_end"]


def test_a_stop_condition_ends_the_churn_with_its_figure() -> None:
    with served(Client(), pairs=0, limits=StopLimits(lag_ms=0.0001)) as session:
        stop = ran(session).stop
    assert stop is not None
    assert stop.why == "lag"


def test_a_signal_ends_the_churn() -> None:
    interruption = Interruption()
    interruption.set("SIGTERM")
    with served(Client(), pairs=0) as session:
        end = ran(session, interruption)
    assert (end.stop, end.client_exited) == (None, False)
    assert session.marks() == ["churn_start", "churn_end"]


def test_an_error_of_the_input_thread_is_raised_and_the_churn_is_ended() -> None:
    client = Client()
    client.trouble = RuntimeError("no terminal")
    with served(client) as session, pytest.raises(RuntimeError, match="no terminal"):
        ran(session)
    assert session.marks() == ["churn_start", "churn_end"]
