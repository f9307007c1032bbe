"""Probe events hit visible Pods, one each in its slice of the churn, and none is left unrestored."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.drive.waiting import Kept, wait_for

from perfq._core import TerminalView
from perfq.drive import probes
from perfq.drive.probes import FIRST_NUMBER, ProbeEvents, ProbePlan, schedule
from perfq.profile.client import Screen

VIEW = TerminalView(Screen().model_dump())
Key = tuple[str, str]
PODS: list[Key] = [("bench-0000", f"pod-{i:06}") for i in range(3)]


class World:
    """A server and the terminal of a client that shows what the server says, or does not."""

    def __init__(self, visible: Sequence[Key], *, shows: bool = True, deleted: Sequence[Key] = ()) -> None:
        self.visible = list(visible)
        self.shows = shows
        self.deleted = set(deleted)
        self.committed: list[tuple[int, Key, int]] = []
        self.restored: list[tuple[int, Key]] = []
        self.forgotten: list[int] = []
        self.expected: dict[int, tuple[Key, str, str]] = {}
        self.most_at_once = 0
        self._seen: list[int] = []

    def rows(self, view: TerminalView) -> list[dict[str, Any]]:
        return [{"row": i, "key": key, "cells": {}, "cursor": False} for i, key in enumerate(self.visible)]

    def expect_cell(self, i: int, key: Key, column: str, text: str, view: TerminalView) -> None:
        self.expected[i] = (key, column, text)

    def seen_cells(self) -> list[dict[str, Any]]:
        seen, self._seen = self._seen, []
        return [{"i": i, "t": 1} for i in seen]

    def forget_cell(self, i: int) -> bool:
        self.forgotten.append(i)
        return True

    def probe(self, i: int, ns: str, name: str, number: int) -> dict[str, int] | None:
        if (ns, name) in self.deleted:
            return None
        assert i in self.expected, "it is looked for before it is committed"
        self.committed.append((i, (ns, name), number))
        open_now = {one for one, _, _ in self.committed} - {one for one, _ in self.restored}
        pods = [key for one, key, _ in self.committed if one in open_now]
        self.most_at_once = max(self.most_at_once, *(pods.count(key) for key in pods))
        if self.shows:
            self._seen.append(i)
        return {"t": 1, "rv": 1}

    def restore(self, i: int, ns: str, name: str) -> dict[str, int] | None:
        self.restored.append((i, (ns, name)))
        return {"t": 1, "rv": 1}

    def start(self, count: int, seconds: float = 0.0) -> tuple[Kept, ProbeEvents]:
        kept = Kept()
        events = ProbeEvents(self, self, kept, ProbePlan(count, seconds, 186, VIEW))
        events.start(time.monotonic_ns())
        return kept, events


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(probes, "SEEN_TIMEOUT_S", 0.02)


@given(st.integers(0, 2**63 - 1), st.integers(1, 200), st.integers(1, 86_400))
def test_the_schedule_has_one_instant_in_each_equal_slice(seed: int, count: int, seconds: int) -> None:
    due = list(schedule(seed, count, seconds))
    width = seconds / count
    assert len(due) == count
    assert all(width * i <= at <= width * (i + 1) for i, at in enumerate(due))
    assert due == list(schedule(seed, count, seconds))


def test_another_seed_gives_another_schedule_and_no_probes_give_none() -> None:
    assert list(schedule(1, 40, 30)) != list(schedule(2, 40, 30))
    assert list(schedule(1, 0, 30)) == []


def test_each_probe_that_is_seen_is_restored_once_and_recorded_as_seen() -> None:
    world = World(PODS)
    kept, events = world.start(6)
    wait_for(lambda: len(kept.lines) == 6)
    events.finish(20)
    assert [(i, number) for i, _, number in world.committed] == [(i, FIRST_NUMBER + i) for i in range(6)]
    assert sorted(world.restored) == sorted((i, key) for i, key, _ in world.committed)
    assert {(line["k"], line["outcome"]) for line in kept.lines} == {("probe_end", "seen")}
    assert {(line["i"], (line["ns"], line["name"])) for line in kept.lines} == set(world.restored)
    assert (events.sent, events.seen, events.error) == (6, 6, None)


def test_the_number_is_looked_for_in_the_restarts_of_the_pod_that_is_hit() -> None:
    world = World(PODS)
    kept, events = world.start(2)
    wait_for(lambda: len(kept.lines) == 2)
    events.finish(20)
    assert world.expected == {i: (key, "RESTARTS", str(number)) for i, key, number in world.committed}


def test_only_visible_pods_are_hit_and_never_two_at_once_on_one() -> None:
    world = World(PODS, shows=False)
    _, events = world.start(10)
    wait_for(lambda: len(world.committed) == 3)
    deadline = time.monotonic() + 0.1
    while time.monotonic() < deadline:
        assert len(world.committed) == 3, "every visible Pod is taken"
    events.finish(0)
    assert {key for _, key, _ in world.committed} == set(PODS)
    assert world.most_at_once == 1


def test_without_a_visible_pod_nothing_is_committed() -> None:
    world = World([])
    kept, events = world.start(5)
    events.finish(20)
    assert (world.committed, kept.lines, events.sent, events.error) == ([], [], 0, None)


def test_a_probe_that_is_not_seen_in_time_is_lost_forgotten_and_restored(impatient: None) -> None:
    world = World(PODS[:1], shows=False)
    kept, events = world.start(1)
    wait_for(lambda: bool(kept.lines))
    events.finish(20)
    assert (kept.lines[0]["outcome"], world.forgotten, world.restored) == ("lost", [0], [(0, PODS[0])])
    assert (events.sent, events.seen) == (1, 0)


def test_a_probe_on_a_pod_that_was_deleted_is_forgotten_and_not_sent() -> None:
    world = World(PODS[:1], deleted=PODS[:1])
    kept, events = world.start(1)
    events.finish(20)
    assert (world.forgotten, world.restored, kept.lines, events.sent) == ([0], [], [], 0)


def test_a_probe_that_the_end_cuts_short_is_restored_and_not_called_lost() -> None:
    world = World(PODS[:1], shows=False)
    kept, events = world.start(1)
    wait_for(lambda: events.sent == 1)
    events.finish(0)
    assert (world.restored, world.forgotten, kept.lines) == ([(0, PODS[0])], [0], [])


def test_pause_waits_for_what_is_under_way_and_lets_nothing_new_begin() -> None:
    world = World(PODS)
    _, events = world.start(400)
    for wanted in (1, 3, 5):
        wait_for(lambda wanted=wanted: len(world.committed) >= wanted)  # type: ignore[misc]
        events.pause()
        sent = len(world.committed)
        assert len(world.restored) == sent
        deadline = time.monotonic() + 0.05
        while time.monotonic() < deadline:
            assert len(world.committed) == sent
        events.resume()
    events.finish(0)


def test_pause_waits_for_the_probe_that_is_being_sent() -> None:
    world = World(PODS)
    looking, go = threading.Event(), threading.Event()
    rows = world.rows

    def slow(view: TerminalView) -> list[dict[str, Any]]:
        looking.set()
        assert go.wait(20)
        return rows(view)

    world.rows = slow  # type: ignore[method-assign]
    _, events = world.start(1)
    assert looking.wait(20)
    pausing = threading.Thread(target=events.pause)
    pausing.start()
    pausing.join(0.05)
    assert pausing.is_alive()
    go.set()
    pausing.join(20)
    assert [i for i, _ in world.restored] == [i for i, _, _ in world.committed] == [0]
    events.finish(20)


def broken(_: object) -> list[Any]:
    raise RuntimeError("the terminal is gone")


@pytest.mark.parametrize("part", ["rows", "seen_cells"])
def test_an_exception_ends_the_probes_and_is_kept(part: str, monkeypatch: pytest.MonkeyPatch) -> None:
    raises: Callable[..., Any] = lambda *_: broken(None)  # noqa: E731
    monkeypatch.setattr(World, part, raises)
    world = World(PODS)
    _, events = world.start(2)
    wait_for(lambda: events.error is not None)
    events.finish(20)
    assert str(events.error) == "the terminal is gone"


def test_a_server_that_cannot_restore_at_the_end_is_an_error_and_not_a_silent_one() -> None:
    world = World(PODS[:1], shows=False)
    _, events = world.start(1)
    wait_for(lambda: events.sent == 1)

    def fails(i: int, ns: str, name: str) -> None:
        raise RuntimeError("no restore")

    world.restore = fails  # type: ignore[method-assign]
    events.finish(0)
    assert str(events.error) == "no restore"
