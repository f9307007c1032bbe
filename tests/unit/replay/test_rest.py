"""After the scenarios a client that draws a table is left alone, and its terminal is made smaller and as it was."""

from __future__ import annotations

from typing import Any

import pytest
from tests.unit.replay.parts import Client, Session

from perfq.drive.signals import Interruption
from perfq.replay import rest
from perfq.replay.options import Size
from perfq.replay.rest import MIN_RUN_S, rest_and_resize


class Resizable(Client):
    """Fills the smaller size in time, and never the larger one."""

    def __init__(self) -> None:
        super().__init__()
        self.sizes: list[tuple[int, int]] = []

    def resize(self, cols: int, rows: int, timeout_s: float) -> dict[str, Any]:
        self.sizes.append((cols, rows))
        return {"sent": len(self.sizes), "first": 8, "filled": 9 if len(self.sizes) == 1 else None}


@pytest.fixture(autouse=True)
def brief(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rest, "IDLE_S", 0.01)


def rested(client: str = "viewer", seconds: int = 5, **options: Any) -> Session:
    assignments = (f"duration_seconds={seconds}",)
    return Session(client, Resizable(), None, assignments=assignments, **options)


def run(session: Any, interruption: Interruption | None = None) -> None:
    rest_and_resize(session, interruption or Interruption())


def test_a_change_of_size_that_was_not_filled_has_null_and_not_zero() -> None:
    session = rested(size=Size(100, 40))
    run(session)
    assert session.recorder.lines == [
        {"k": "resize", "t": 1, "cols": 76, "rows": 32, "filled": 9},
        {"k": "resize", "t": 2, "cols": 100, "rows": 40, "filled": None},
    ]


def test_only_a_run_of_some_length_is_made_longer_by_the_idle_time() -> None:
    longer, shorter = rested(seconds=MIN_RUN_S), rested(seconds=MIN_RUN_S - 1)
    run(longer)
    run(shorter)
    assert longer.marks() == ["idle", "idle_end"]
    assert shorter.marks() == []


def test_the_smallest_terminal_can_still_be_made_smaller() -> None:
    session = rested(size=Size(40, 10))
    run(session)
    assert [(line["cols"], line["rows"]) for line in session.recorder.lines] == [(16, 2), (40, 10)]


@pytest.mark.parametrize("client", ["watch", "generic"])
def test_nothing_of_it_for_a_client_that_draws_no_table(client: str) -> None:
    session = rested(client)
    run(session)
    assert session.recorder.lines == []


def test_nothing_of_it_once_the_client_has_ended_or_a_signal_came() -> None:
    ended = rested()
    ended.terminal.exited = {"code": 0, "signal": None}
    run(ended)
    interruption = Interruption()
    interruption.set("SIGTERM")
    stopped = rested(seconds=MIN_RUN_S)
    run(stopped, interruption)
    assert ended.recorder.lines == stopped.recorder.lines == []
