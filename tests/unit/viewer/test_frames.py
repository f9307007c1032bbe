"""Frames account for every event once, after the frame that shows it was flushed."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable, Sequence
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from perfq.probe import Probe
from perfq.viewer.frames import Frames, Hooks
from perfq.viewer.inbox import Events, Inbox, ListComplete, ListPage, ListStarted, Problem
from perfq.viewer.kinds import Scope
from perfq.viewer.objects import Key, PodRecord, Record
from perfq.viewer.store import Changes, Store

SCOPE = Scope("pods")


class Notes(Probe):
    """Keeps what would be sent."""

    def __init__(self) -> None:
        super().__init__(None)
        self.said: list[tuple[str, dict[str, Any]]] = []

    @property
    def active(self) -> bool:
        return True

    def send(self, k: str, t: int | None = None, /, **fields: object) -> None:
        self.said.append((k, fields))

    def of(self, k: str) -> list[dict[str, Any]]:
        return [fields for kind, fields in self.said if kind == k]

    def total(self, k: str, field: str) -> int:
        return sum(fields[field] for fields in self.of(k))


class Table:
    """A pane whose visible rows are drawn when the test says so."""

    def __init__(self, scope: Scope = SCOPE) -> None:
        self.scope = scope
        self.undrawn = False
        self.visible = False
        self.rows: dict[Key, Record] = {}

    def apply(self, changes: Changes) -> int:
        for key, record in changes.objects.items():
            if record is None:
                self.rows.pop(key, None)
            else:
                self.rows[key] = record
        self.undrawn = self.visible
        return len(self.rows)


class Bench:
    """Frames with a store, an inbox, a table, and a terminal that is flushed when the test says so."""

    def __init__(self) -> None:
        self.probe = Notes()
        self.store = Store()
        self.inbox = Inbox(lambda: None)
        self.table = Table()
        self.problems: list[str | None] = []
        self.changed: list[Sequence[Scope]] = []
        self.unflushed: list[Callable[[], None]] = []
        self.populated: list[Scope] = []
        hooks = Hooks(
            lambda found: self.problems.append(found.text),
            self.changed.append,
            self.unflushed.append,
            self.populated.append,
        )
        self.frames = Frames(self.store, self.inbox, self.probe, hooks)
        self.frames.panes.append(self.table)
        self.store.open(SCOPE)

    def flush(self) -> None:
        for report in self.unflushed:
            report()
        self.unflushed.clear()


def pod(name: str, restarts: int = 0) -> PodRecord:
    return PodRecord("a", name, "Running", "1/1", "Running", restarts, "n", 0)


def events(version: int, *names: str) -> Events:
    changes: list[tuple[Key, Record | None]] = [(("a", name), pod(name, version)) for name in names]
    return Events(SCOPE, changes, str(version))


def test_events_of_one_object_in_one_frame_are_one_row_and_the_others_are_coalesced() -> None:
    bench = Bench()
    bench.inbox.put(events(1, "x", "y"))
    bench.inbox.put(events(2, "x"))
    bench.frames.frame()
    bench.flush()
    assert bench.probe.of("rendered") == [{"kind": "pods", "scope": "", "rv": "2", "rows_changed": 2}]
    assert bench.probe.of("coalesced") == [{"kind": "pods", "scope": "", "n": 1}]
    assert bench.table.rows["a", "x"] == pod("x", 2)


def test_nothing_is_rendered_before_it_was_flushed() -> None:
    bench = Bench()
    bench.inbox.put(events(1, "x"))
    bench.frames.frame()
    assert bench.probe.of("rendered") == []
    bench.flush()
    assert len(bench.probe.of("rendered")) == 1


def test_a_visible_row_is_rendered_by_the_frame_that_draws_it() -> None:
    bench = Bench()
    bench.table.visible = True
    bench.inbox.put(events(1, "x"))
    bench.frames.frame()
    bench.flush()
    assert bench.probe.of("rendered") == [], "not drawn yet"
    bench.table.undrawn = False
    bench.frames.drawn()
    bench.flush()
    assert bench.probe.of("rendered")[0]["rv"] == "1"


def test_a_list_is_populated_once_and_holds_all_its_rows() -> None:
    bench = Bench()
    bench.inbox.put(ListStarted(SCOPE))
    bench.inbox.put(ListPage(SCOPE, [pod("x"), pod("y")]))
    bench.frames.frame()
    bench.flush()
    assert bench.probe.of("populated") == []
    assert bench.populated == []
    bench.inbox.put(ListComplete(SCOPE, "9", 2))
    bench.frames.frame()
    bench.flush()
    assert bench.probe.of("populated") == [{"kind": "pods", "scope": "", "rows": 2}]
    assert bench.populated == [SCOPE]
    assert bench.probe.of("rendered") == [], "a LIST is no event"


def test_events_of_a_closed_scope_are_dropped_and_said_so() -> None:
    bench = Bench()
    bench.inbox.put(events(1, "x"))
    bench.frames.close(SCOPE)
    bench.frames.frame()
    assert bench.probe.total("dropped", "n") == 1
    assert bench.probe.of("rendered") == []


def test_a_problem_is_handed_on() -> None:
    bench = Bench()
    bench.inbox.put(Problem(SCOPE, "connection refused"))
    bench.frames.frame()
    assert bench.problems == ["connection refused"]
    assert bench.changed == []


steps = st.lists(st.sampled_from(["event", "frame", "draw", "flush", "hide", "show", "list"]), max_size=60)


@given(steps, st.integers(0, 2**32))
def test_whatever_the_order_of_frames_and_flushes_every_event_has_one_fate(script: list[str], seed: int) -> None:
    bench = Bench()
    rng = random.Random(seed)
    sent = 0
    for number, step in enumerate(script):
        if step == "event":
            names = [rng.choice("xyz") for _ in range(rng.randint(1, 4))]
            sent += len(names)
            bench.inbox.put(events(number, *names))
        elif step == "list":
            bench.inbox.put(ListStarted(SCOPE))
            bench.inbox.put(ListPage(SCOPE, [pod("x", number)]))
            bench.inbox.put(ListComplete(SCOPE, str(number), 1))
        elif step == "frame":
            bench.frames.frame()
        elif step == "draw":
            bench.table.undrawn = False
            bench.frames.drawn()
        elif step == "flush":
            bench.flush()
        else:
            bench.table.visible = step == "show"
        assert bench.probe.total("rendered", "rows_changed") + bench.probe.total("coalesced", "n") <= sent
    bench.frames.frame()
    bench.table.undrawn = False
    bench.frames.drawn()
    bench.flush()
    assert bench.probe.total("rendered", "rows_changed") + bench.probe.total("coalesced", "n") == sent
    assert bench.table.rows == bench.store.objects(SCOPE)


def test_the_loop_makes_a_frame_of_what_came_and_rests_without_anything() -> None:
    async def run() -> Bench:
        bench = Bench()
        loop = asyncio.get_running_loop()
        framed = asyncio.Event()
        bench.inbox = Inbox(lambda: None)
        hooks = Hooks(lambda _: None, lambda _: framed.set(), lambda report: report())
        frames = Frames(bench.store, bench.inbox, bench.probe, hooks)
        frames.panes.append(bench.table)
        task = asyncio.create_task(frames.run())
        bench.inbox.put(events(1, "x"))
        loop.call_soon(frames.wake)
        await asyncio.wait_for(framed.wait(), 10)
        task.cancel()
        return bench

    bench = asyncio.run(run())
    assert bench.probe.total("rendered", "rows_changed") == 1
    assert bench.probe.of("backlog") == [{"depth": 0}]
