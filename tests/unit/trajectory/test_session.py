"""One session: its waits in full, its stamps, and an identity that shows time which nobody accounts for."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from perfq.profile.trajectory.trajectory import ExecStep, Trajectory
from perfq.trajectory.admission import Admitted
from perfq.trajectory.lived import Lived, Stamps
from perfq.trajectory.local.clearing import Closed
from perfq.trajectory.local.command import Ended, Outcome
from perfq.trajectory.plan import Session
from perfq.trajectory.session import Around, StartFailed, live
from perfq.trajectory.waits import Pausing, wait

MS = 1_000_000


class HandClock:
    """Time passes only where something takes it."""

    def __init__(self) -> None:
        self.now = 0
        self.late = 0

    def now_ns(self) -> int:
        return self.now

    async def sleep_until(self, due_ns: int) -> None:
        await asyncio.sleep(0)
        self.now = max(self.now, due_ns) + self.late


class Pauses:
    def __init__(self, clock: HandClock) -> None:
        self.clock = clock
        self.paused = False

    async def pause(self) -> None:
        self.paused = True
        self.clock.now += 30 * MS

    async def resume(self) -> None:
        self.clock.now += 40 * MS
        self.paused = False


class Place:
    """Commands of 10 ms; `outcomes` by step; `unseen` ms are lost before a step without anyone's stamp."""

    def __init__(self, clock: HandClock, outcomes: dict[int, Outcome], unseen: dict[int, int]) -> None:
        self.clock, self.outcomes, self.unseen = clock, outcomes, unseen
        self.place: dict[str, object] = {"pid": 1}
        self.pauses = Pauses(clock)
        self.closed = False
        self.hang = False
        self.fails: str | None = None

    def pausing(self, mode: str) -> Pausing:
        return self.pauses

    async def open(self, session: Session) -> Place:
        self.clock.now += 5 * MS
        if self.fails is not None:
            raise StartFailed(self.fails)
        return self

    async def run(self, step: int, command: ExecStep) -> Ended:
        self.clock.now += self.unseen.get(step, 0) * MS
        if self.hang:
            await asyncio.Event().wait()
        issued = self.clock.now
        self.clock.now += 10 * MS
        outcome = self.outcomes.get(step, "done")
        return Ended(outcome, None, issued, issued, self.clock.now, self.clock.now, 0, None, None, None)

    async def close(self) -> Closed:
        self.clock.now += 7 * MS
        self.closed = True
        return Closed()


def session(*steps: dict[str, Any]) -> Session:
    document = {"schema": "perfq.trajectory/v1", "id": "s", "steps": list(steps)}
    return Session(0, Trajectory.model_validate(document), Path("s.json"), 0)


EXEC = {"kind": "exec", "id": "a", "script": "true"}
AGAIN = {"kind": "exec", "id": "b", "script": "true"}
WAIT = {"kind": "wait", "wait_ms": 250}


class Run:
    def __init__(self) -> None:
        self.clock = HandClock()
        self.lines: list[dict[str, object]] = []
        self.place = Place(self.clock, {}, {})

    def live(self, *steps: dict[str, Any], before: Callable[[asyncio.Task[None]], object] | None = None) -> Lived:
        self.clock.now = 100 * MS
        one = session(*steps)
        lived = Lived(one, Stamps(intended=60 * MS, submitted=70 * MS))

        async def go() -> None:
            around = Around(self.clock, self.place, self.lines.append, 1000)
            admitted = Admitted(0, 70 * MS, 100 * MS, 20 * MS, 10 * MS)
            task = asyncio.create_task(live(around, lived, admitted, lambda: None))
            if before is not None:
                for _ in range(5):
                    await asyncio.sleep(0)
                before(task)
            await task

        asyncio.run(go())
        return lived


@pytest.fixture
def run() -> Run:
    return Run()


def test_the_eight_terms_add_up_to_the_time_from_intended_to_stopped(run: Run) -> None:
    lived = run.live(EXEC, WAIT, AGAIN)
    assert (lived.fate, lived.open_ns, lived.closed) == ("completed", 0, True)
    terms = (lived.init_ns, lived.exec_ns, lived.planned_ns, lived.extra_ns, lived.teardown_ns)
    assert terms == (5 * MS, 20 * MS, 250 * MS, 0, 7 * MS)


def test_a_step_that_is_delayed_by_500_ms_without_a_stamp_leaves_the_identity_open(run: Run) -> None:
    run.place.unseen = {2: 500}
    lived = run.live(EXEC, WAIT, AGAIN)
    assert (lived.open_ns, lived.closed) == (500 * MS, False)


def test_a_late_timer_is_extra_wait_and_the_identity_closes(run: Run) -> None:
    run.clock.late = 500 * MS
    lived = run.live(EXEC, WAIT, AGAIN)
    assert (lived.planned_ns, lived.extra_ns, lived.open_ns) == (250 * MS, 500 * MS, 0)


def test_what_pausing_takes_is_extra_and_the_planned_wait_stays_whole(run: Run) -> None:
    lived = run.live(EXEC, WAIT | {"pause": "freeze"}, AGAIN)
    assert (lived.planned_ns, lived.extra_ns, lived.open_ns) == (250 * MS, 70 * MS, 0)


def test_a_clean_timeout_goes_on_and_an_unclean_one_fails_the_session(run: Run) -> None:
    run.place.outcomes = {0: "timed_out_cleaned"}
    assert run.live(EXEC, AGAIN).fate == "completed"
    run.place.outcomes = {0: "timed_out_uncleaned"}
    lived = run.live(EXEC, AGAIN)
    assert (lived.fate, lived.commands) == ("failed", 1)
    assert lived.why == "step 0: timed_out_uncleaned"


@pytest.mark.parametrize("outcome", ["unknown", "failed_to_start"])
def test_what_is_not_known_to_have_run_is_no_success(run: Run, outcome: Outcome) -> None:
    run.place.outcomes = {1: outcome}
    assert run.live(EXEC, AGAIN).fate == "failed"


def test_a_sandbox_that_does_not_come_up_fails_the_session_with_its_reason(run: Run) -> None:
    run.place.fails = "no disk"
    lived = run.live(EXEC)
    assert (lived.fate, lived.why, lived.init_ns, lived.open_ns) == ("failed", "no disk", 5 * MS, 0)


def test_a_cancelled_session_is_closed_and_has_its_line_in_the_record(run: Run) -> None:
    run.place.hang = True
    with pytest.raises(asyncio.CancelledError):
        run.live(EXEC, before=lambda task: task.cancel())
    assert run.place.closed
    assert run.lines[-1]["k"] == "tj_session"
    assert run.lines[-1]["outcome"] == "cancelled"


def test_the_record_has_every_stamp_of_commands_and_waits(run: Run) -> None:
    run.live(EXEC, WAIT, AGAIN)
    first, waited, second, ended = [line for line in run.lines if line["k"] != "tj_audit"]
    assert [line["k"] for line in (first, waited, second, ended)] == [
        "tj_command",
        "tj_wait",
        "tj_command",
        "tj_session",
    ]
    assert waited["entered"] == first["returned"]
    assert second["due"] == waited["due"] == second["issued"]


def test_a_wait_that_is_cancelled_resumes_the_sandbox_before_it_is_left() -> None:
    clock = HandClock()
    pauses = Pauses(clock)

    async def go() -> None:
        task = asyncio.create_task(wait(clock, 0, 10, pauses))
        await asyncio.sleep(0)
        assert pauses.paused
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(go())
    assert not pauses.paused


def test_a_wait_that_is_cancelled_while_it_resumes_is_left_only_when_the_sandbox_runs_again() -> None:
    clock = HandClock()
    resuming, go_on = asyncio.Event(), asyncio.Event()

    class Slow(Pauses):
        async def resume(self) -> None:
            resuming.set()
            await go_on.wait()
            await super().resume()

    pauses = Slow(clock)

    async def go() -> None:
        task = asyncio.create_task(wait(clock, 0, 10, pauses))
        await resuming.wait()
        for _ in range(3):
            task.cancel()
            await asyncio.sleep(0)
        assert not task.done()
        go_on.set()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(go())
    assert not pauses.paused
