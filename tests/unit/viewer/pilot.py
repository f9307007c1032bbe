"""The app on a headless terminal: keys in, lines out."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import pytest
from tests.unit.viewer.served import Served, node, pod
from textual.pilot import Pilot

from perfq.probe import Probe
from perfq.viewer.app import ViewerApp
from perfq.viewer.parts import Parts, View

Play = Callable[[Pilot[None]], Awaitable[None]]


def lines(app: ViewerApp) -> list[str]:
    """The screen as text."""
    return ["".join(segment.text for segment in strip) for strip in app.screen._compositor.render_strips()]


def screen(app: ViewerApp) -> str:
    return "\n".join(line.rstrip() for line in lines(app))


async def until(pilot: Pilot[None], condition: Callable[[], bool]) -> None:
    """Waits until it holds; the screen is in the failure."""
    for _ in range(500):
        if condition():
            return
        await asyncio.sleep(0.01)
    app = pilot.app
    assert isinstance(app, ViewerApp)
    pytest.fail(f"it never came to be; the screen:\n{screen(app)}")


def run(play: Play, served: Served, view: View | None = None, size: tuple[int, int] = (120, 20)) -> ViewerApp:
    """Runs the app on a headless terminal."""
    app = ViewerApp(Parts(), view or View(), served, Probe(None))

    async def go() -> None:
        async with app.run_test(size=size) as pilot:
            await play(pilot)

    asyncio.run(go())
    return app


def cursor(app: ViewerApp) -> str:
    model = app.query_one("#pods").model  # type: ignore[attr-defined]
    return "/".join(model.cursor)


def names(app: ViewerApp) -> list[str]:
    """The Pods on the screen, from top to bottom."""
    return [line.split()[1] for line in lines(app) if line[:2] in ("a ", "b ")]


def app_of(pilot: Pilot[None]) -> ViewerApp:
    assert isinstance(pilot.app, ViewerApp)
    return pilot.app


def thirty_pods() -> Served:
    """Twenty Pods in namespace a, ten in b, and a node."""
    return Served([pod(f"web-{i:02d}", "a" if i < 20 else "b", restarts=i % 3) for i in range(30)], [node("node-00")])
