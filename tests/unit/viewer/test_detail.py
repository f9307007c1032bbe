"""Describe and logs, and what goes on behind them."""

from __future__ import annotations

import pytest
from tests.unit.viewer.pilot import app_of, cursor, lines, run, screen, thirty_pods, until
from tests.unit.viewer.served import Served, pod
from textual.pilot import Pilot

from perfq.viewer.kinds import Scope
from perfq.viewer.transport import Rejected


@pytest.fixture
def served() -> Served:
    return thirty_pods()


def test_describe_shows_the_object_and_its_events_and_escape_leads_back(served: Served) -> None:
    async def play(pilot: Pilot[None]) -> None:
        app = app_of(pilot)
        await until(pilot, lambda: "Pods 30" in screen(app))
        await pilot.press("down", "d")
        await until(pilot, lambda: "Describe a/web-01" in screen(app) and "it began" in screen(app))
        await pilot.press("escape")
        await until(pilot, lambda: "NAMESPACE" in screen(app))
        assert cursor(app) == "a/web-01"

    run(play, served, size=(120, 50))


def test_describe_of_what_is_gone_says_why(served: Served) -> None:
    served.refused["/pods/web-00"] = Rejected(404, 'pods "web-00" not found')

    async def play(pilot: Pilot[None]) -> None:
        app = app_of(pilot)
        await until(pilot, lambda: "Pods 30" in screen(app))
        await pilot.press("d")
        await until(pilot, lambda: '404 pods "web-00" not found' in screen(app))

    run(play, served)


def test_a_log_is_followed_and_updates_go_on_behind_it(served: Served) -> None:
    async def play(pilot: Pilot[None]) -> None:
        app = app_of(pilot)
        await until(pilot, lambda: "Pods 30" in screen(app))
        await pilot.press("l")
        await until(pilot, lambda: "second line" in screen(app) and "following" in screen(app))
        asked: list[object] = []
        refresh = app._pods_pane.table.refresh
        app._pods_pane.table.refresh = lambda *a, **k: (asked.append(a), refresh(*a, **k))[1]  # type: ignore[method-assign, func-returns-value]
        served.change("pods", "MODIFIED", pod("web-00", restarts=88))
        await until(pilot, lambda: app.store.objects(Scope("pods"))["a", "web-00"].restarts == 88)  # type: ignore[union-attr]
        served.log_goes_on.set()
        await until(pilot, lambda: "a later line" in screen(app))
        assert app._pods_pane.model.rows["a", "web-00"][4] == 88
        assert asked == [], "nothing is drawn under the log"
        await pilot.press("escape")
        await until(pilot, lambda: " 88 " in lines(app)[2])

    run(play, served)
