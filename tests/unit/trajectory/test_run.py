"""A run: open-loop arrivals, admission in their order, and a line in the record for every session, however it ends."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.unit.trajectory.plans import command, plan

from perfq.errors import UsageError
from perfq.profile.trajectory.trajectory import ExecStep
from perfq.trajectory.clock import MonotonicClock
from perfq.trajectory.journal import StartedJournal, remains
from perfq.trajectory.local.clearing import Closed
from perfq.trajectory.local.command import Ended, LocalCommands
from perfq.trajectory.local.processes import Owner, belonging
from perfq.trajectory.local.sandbox import LocalBackend, bounds_of
from perfq.trajectory.plan import Session, SessionPlan
from perfq.trajectory.run import Outcome, Setting, run
from perfq.trajectory.waits import PauseFailed, Pausing

MS = 1_000_000
Lines = list[dict[str, Any]]


class Places:
    """Sandboxes whose commands run until they are told to end; `1` as a script ends at once, `bug` is one of ours."""

    place: dict[str, object] = {}  # noqa: RUF012

    def pausing(self, mode: str) -> Pausing:
        raise PauseFailed(mode)

    def __init__(self) -> None:
        self.opened: list[int] = []
        self.closed = 0
        self.go_on = asyncio.Event()

    async def open(self, session: Session) -> Places:
        self.opened.append(session.n)
        return self

    async def run(self, step: int, command: ExecStep) -> Ended:
        now = MonotonicClock().now_ns()
        if command.script == "bug":
            raise RuntimeError("ours")
        if command.script != "1":
            await self.go_on.wait()
        return Ended("done", None, now, now, now, MonotonicClock().now_ns(), 0, None, None, None)

    async def close(self) -> Closed:
        await asyncio.sleep(0)
        self.closed += 1
        return Closed()


Watch = Callable[[Places, asyncio.Event, Lines], Any]


def played(
    planned: SessionPlan,
    watch: Watch | None = None,
    usage: Callable[[Places], int | None] = lambda _: None,
    **setting: Any,
) -> tuple[Outcome, Places, Lines]:
    """`watch` is awaited beside the run."""

    async def go() -> tuple[Outcome, Places, Lines]:
        places, stop, lines = Places(), asyncio.Event(), Lines()
        beside = asyncio.create_task(watch(places, stop, lines)) if watch is not None else None
        around = Setting(MonotonicClock(), places, lines.append, lambda: usage(places), **setting)
        outcome = await run(planned, around, stop)
        if beside is not None:
            await beside
        return outcome, places, lines

    return asyncio.run(go())


def test_a_slow_session_holds_up_nobody_s_arrival() -> None:
    async def release(places: Places, _: asyncio.Event, __: Lines) -> None:
        while places.opened != [0, 1, 2]:
            await asyncio.sleep(0.001)
        places.go_on.set()

    outcome, _, _ = played(plan([command("slow")], [command("1")], [command("1")], offsets=[0, 5, 10]), release)
    assert [lived.fate for lived in outcome.sessions] == ["completed"] * 3
    assert all(
        lived.stamps.submitted is not None and lived.stamps.submitted >= lived.stamps.intended
        for lived in outcome.sessions
    )


def test_no_more_live_at_once_than_may_and_they_start_in_the_order_of_their_arrival() -> None:
    async def release(places: Places, _: asyncio.Event, lines: Lines) -> None:
        while sum(line.get("state") == "queued" for line in lines) < 5:
            await asyncio.sleep(0.001)
        assert places.opened == [0, 1]
        places.go_on.set()

    outcome, places, _ = played(plan(*[[command("slow")]] * 5, admission={"max_concurrent": 2}), release)
    assert places.opened == [0, 1, 2, 3, 4]
    assert outcome.peak_concurrency == 2


def test_starts_keep_their_pace_and_the_time_lost_to_it_is_the_launch_queue_s() -> None:
    outcome, _, _ = played(plan(*[[command("1")]] * 3, launch={"interval_ms": 20}))
    admitted = [lived.stamps.admitted or 0 for lived in outcome.sessions]
    assert admitted[1] - admitted[0] >= 20 * MS
    assert admitted[2] - admitted[1] >= 20 * MS
    assert outcome.sessions[2].queue_launch_ns >= 30 * MS
    assert outcome.sessions[2].queue_memory_ns < outcome.sessions[2].queue_launch_ns


def test_a_stop_closes_what_lives_and_names_what_never_started() -> None:
    async def stop_it(places: Places, stop: asyncio.Event, _: Lines) -> None:
        while not places.opened:
            await asyncio.sleep(0.001)
        stop.set()

    planned = plan(*[[command("slow")]] * 3, offsets=[0, 0, 3_600_000], admission={"max_concurrent": 1})
    outcome, places, lines = played(planned, stop_it)
    assert outcome.stopped == "the run was stopped"
    assert places.closed == 1
    ends = {line["n"]: line for line in lines if line["k"] == "tj_session"}
    assert sorted(str(ends[n]["why"]) for n in range(3)) == [
        "it never started: the run was stopped",
        "it never started: the run was stopped",
        "the run was stopped",
    ]
    assert {line["outcome"] for line in ends.values()} == {"cancelled"}
    assert ends[2]["submitted"] is None


def test_an_error_of_the_harness_is_raised_after_every_sandbox_is_closed() -> None:
    closed: list[Places] = []

    async def watch(places: Places, _: asyncio.Event, __: Lines) -> None:
        closed.append(places)

    with pytest.raises(RuntimeError, match="ours"):
        played(plan([command("slow")], [command("bug")]), watch)
    assert closed[0].closed == 2


def test_memory_that_nobody_of_the_run_holds_ends_it_with_the_figures() -> None:
    outcome, _, lines = played(plan([command("1")], admission={"budget_bytes": 10}), usage=lambda _: 11, stuck_ns=0)
    assert outcome.stopped is not None
    assert "11 bytes are in use though no session runs: the budget of 10" in outcome.stopped
    assert [line["outcome"] for line in lines if line["k"] == "tj_session"] == ["cancelled"]


def test_a_session_waits_until_the_memory_of_others_is_free() -> None:
    async def release(places: Places, _: asyncio.Event, lines: Lines) -> None:
        while not any(line.get("state") == "running" for line in lines):
            await asyncio.sleep(0.001)
        await asyncio.sleep(0.001)
        assert places.opened == [0]
        places.go_on.set()

    admission = {"budget_bytes": 10, "headroom_bytes": 6, "reserve_bytes": 4 + 1}
    outcome, places, _ = played(
        plan([command("slow")], [command("1")], admission=admission),
        release,
        usage=lambda places: 20 if len(places.opened) > places.closed else 0,
    )
    first, second = outcome.sessions
    assert places.opened == [0, 1]
    assert first.stamps.stopped is not None
    assert second.stamps.admitted is not None
    assert second.stamps.admitted >= first.stamps.stopped
    assert (second.queue_memory_ns > 0, second.queue_launch_ns) == (True, 0)


def test_a_budget_without_a_way_to_read_the_memory_in_use_is_refused() -> None:
    with pytest.raises(UsageError, match="cannot be read here"):
        played(plan([command("1")], admission={"budget_bytes": 10}))


@pytest.fixture
def local(tmp_path: Path) -> Iterator[Callable[..., tuple[Outcome, Lines]]]:
    """Plays a plan in real processes; nothing of it is left afterwards."""

    def go(planned: SessionPlan, stop_when: Callable[[], bool] | None = None) -> tuple[Outcome, Lines]:
        lines = Lines()
        run_id = f"{tmp_path.name}-{os.getpid()}"

        async def play() -> Outcome:
            stop = asyncio.Event()

            async def watch() -> None:
                while stop_when is not None and not stop_when():
                    await asyncio.sleep(0.005)
                if stop_when is not None:
                    stop.set()

            with LocalCommands() as commands, StartedJournal(tmp_path / "started.ndjson", run_id) as journal:
                backend = LocalBackend(run_id, tmp_path / "w", commands, bounds_of(planned), journal)
                watching = asyncio.create_task(watch())
                outcome = await run(planned, Setting(MonotonicClock(), backend, lines.append), stop)
                await watching
                return outcome

        return asyncio.run(play()), lines

    yield go
    assert remains(tmp_path / "started.ndjson").sandboxes == []
    assert list((tmp_path / "w").iterdir()) == []


def test_twenty_real_sessions_run_with_every_command_and_wait_in_the_record(
    local: Callable[..., tuple[Outcome, Lines]],
) -> None:
    steps = [command("echo a > f"), {"kind": "wait", "wait_ms": 30}, command("cat f") | {"id": "d"}]
    outcome, lines = local(plan(*[steps] * 20, admission={"max_concurrent": 8}))
    assert {lived.fate for lived in outcome.sessions} == {"completed"}
    kinds = [line["k"] for line in lines]
    assert [kinds.count(kind) for kind in ("tj_session", "tj_command", "tj_wait")] == [20, 40, 20]
    stamps = [[line[name] for name in ("woken", "due", "sleep_begin")] for line in lines if line["k"] == "tj_wait"]
    assert all(woken >= due == begin + 30 * MS for woken, due, begin in stamps)
    assert "tj_delay" in kinds


def test_a_stop_ends_the_processes_of_every_real_session(
    local: Callable[..., tuple[Outcome, Lines]], tmp_path: Path
) -> None:
    markers = [Owner(f"PERFQ_SESSION={tmp_path.name}-{os.getpid()}/{n}") for n in range(3)]
    outcome, _ = local(plan(*[[command("sleep 600")]] * 3), lambda: all(belonging(owner) for owner in markers))
    assert {lived.fate for lived in outcome.sessions} == {"cancelled"}
    assert not any(belonging(owner) for owner in markers)
