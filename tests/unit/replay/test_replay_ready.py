"""A client is waited for until it is ready and populated; where it is not, the run says what is missing."""

from __future__ import annotations

import time
from types import SimpleNamespace
from typing import Any

import pytest
from tests.unit.replay.parts import Client, Session

from perfq.drive.progress import Progress
from perfq.drive.ready import SCREEN_GRACE_NS
from perfq.drive.signals import Interruption
from perfq.replay.ready import await_ready

PODS = {"kind": "pods", "scope": "", "chains_complete": 1, "objects": 1000, "t": 1}


def serving(*kinds: str, opened_ns: int = 1) -> Any:
    watches = [{"kind": kind, "scope": "", "open": True, "opened_ns": opened_ns} for kind in kinds]
    return SimpleNamespace(progress=lambda: {"watches": watches, "lists": [PODS]})


def waited(session: Session, interruption: Interruption | None = None) -> bool:
    it: Any = session
    return await_ready(it, Progress(quiet=True), interruption or Interruption())


def why(session: Session) -> str:
    (mark,) = session.recorder.lines
    assert mark["name"] == "not_ready"
    return str(mark["why"])


def viewer(**said: Any) -> Session:
    session = Session("viewer", Client(), serving("pods", "nodes"), ready_timeout_s=0.05)
    session.terminal.milestones["populated"] = 1
    session.said = {"lists": [PODS], "populated": {"t": 1, "rows": 1000}, "interactive_ns": 1, **said}
    return session


def test_a_client_that_is_watched_for_and_populated_is_ready() -> None:
    session = viewer()
    assert waited(session)
    assert session.marks() == ["populated"]


@pytest.mark.parametrize(
    ("said", "missing"),
    [
        ({"lists": []}, "its LIST is not complete (probe)"),
        ({"lists": [{**PODS, "kind": "nodes"}]}, "its LIST is not complete (probe)"),
        ({"populated": None}, "its table is not populated (probe)"),
        ({"interactive_ns": None}, "it is not interactive (probe)"),
    ],
)
def test_what_its_probe_has_not_said_is_named(said: dict[str, Any], missing: str) -> None:
    session = viewer(**said)
    assert not waited(session)
    assert why(session) == f"it was not ready within 0.05 s: {missing}; its last screen is in last-screen.txt"


def test_a_scope_that_is_not_watched_is_named() -> None:
    session = viewer()
    session.server = serving("pods")
    assert not waited(session)
    assert "no open WATCH of nodes in all namespaces" in why(session)


def test_too_few_rows_on_the_screen_are_counted() -> None:
    session = viewer()
    session.terminal.milestones["populated"] = None
    session.terminal.shown = [{}] * 7
    assert not waited(session)
    assert "its screen shows 7 rows of at least 25" in why(session)


@pytest.mark.parametrize(
    ("exited", "text"),
    [({"code": 3, "signal": None}, "exit code 3"), ({"code": None, "signal": 9}, "killed by signal 9")],
)
def test_a_client_that_ends_first_is_not_waited_for(exited: dict[str, Any], text: str) -> None:
    session = Session("viewer", Client(), serving(), ready_timeout_s=1000)
    session.terminal.exited = exited
    assert not waited(session)
    assert why(session).startswith(f"it ended before it was ready ({text})")


def test_a_signal_ends_the_wait_and_is_no_fault_of_the_client() -> None:
    session = Session("viewer", Client(), serving(), ready_timeout_s=1000)
    interruption = Interruption()
    interruption.set("SIGINT")
    assert not waited(session, interruption)
    assert session.recorder.lines == []


def test_a_generic_client_may_show_no_rows_once_it_had_time_to() -> None:
    long_ago = time.monotonic_ns() - SCREEN_GRACE_NS - 1_000_000_000
    session = Session("generic", Client(), serving("pods", opened_ns=long_ago), ready_timeout_s=0.05)
    assert waited(session)
    assert session.marks() == ["no_rows", "populated"]
    just_now = Session("generic", Client(), serving("pods", opened_ns=time.monotonic_ns()), ready_timeout_s=0.05)
    assert not waited(just_now)


def test_a_client_without_a_screen_is_ready_by_its_probe_alone() -> None:
    session = Session("watch", Client(), serving("pods"), ready_timeout_s=0.05)
    session.said = {"lists": [PODS], "populated": None, "interactive_ns": None}
    assert waited(session)
