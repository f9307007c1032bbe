"""Sessions with the engine's sampler beside them: stopped around pauses, drained before teardowns, never waited for."""

from __future__ import annotations

import json
import threading
from typing import Any

import pytest
from tests.unit.trajectory.plans import command, plan, wait
from tests.unit.trajectory.runs import Lines, Runs

from perfq.trajectory.local import command as local_command
from perfq.trajectory.local.start import Order, Started, start

MS = 1_000_000


@pytest.fixture
def sampled(grouped: Runs) -> Runs:
    grouped.samples = grouped.top / "resources.ndjson"
    return grouped


def samples(runs: Runs, kind: str = "resource", n: int | None = None) -> Lines:
    assert runs.samples is not None
    lines: Lines = [json.loads(line) for line in runs.samples.read_text().splitlines()]
    return [line for line in lines if line["k"] == kind and n in (None, line.get("n"))]


def sampling(**changes: Any) -> dict[str, Any]:
    return {"sampling": {"delay_after_ms": 20, **changes}}


BUSY = "(while :; do :; done) >/dev/null 2>&1 &"


def test_a_real_observer_every_session_s_memory_and_cpu_time_are_seen_and_its_sampler_is_drained(sampled: Runs) -> None:
    played = sampled.play(plan(*[[command(BUSY), wait(400)]] * 3, **sampling()))
    assert [lived.fate for lived in played.outcome.sessions] == ["completed"] * 3
    for n in range(3):
        mine = samples(sampled, n=n)
        assert len(mine) >= 3
        assert mine[-1]["memory"] > 0
        assert mine[-1]["cpu_ns"] > mine[0]["cpu_ns"]
    assert (sampled.audits("fail"), sampled.audits("unknown")) == ([], [])


def test_no_sample_falls_between_stop_and_continue_and_the_planned_sleep_is_unchanged(sampled: Runs) -> None:
    sampled.play(plan(*[[command(BUSY), wait(300), wait(200)]] * 3, wait={"mode": "freeze"}, **sampling()))
    for waited in sampled.of("tj_wait"):
        assert waited["due"] - waited["sleep_begin"] == waited["planned"]
        assert waited["woken"] >= waited["due"]
        mine = samples(sampled, n=waited["n"])
        assert not [one for one in mine if one["end"] > waited["pause_end"] and one["begin"] < waited["resume_begin"]]
    assert len(samples(sampled, "resource_pause")) == len(samples(sampled, "resource_resume")) == 6
    assert (sampled.audits("fail"), sampled.audits("unknown")) == ([], [])


def test_draining_on_cancel_a_stop_ends_every_measurement_before_its_session_is_torn_down(sampled: Runs) -> None:
    def sampled_all() -> bool:
        return (
            sampled.samples is not None
            and sampled.samples.exists()
            and len({one["n"] for one in samples(sampled)}) == 3
        )

    planned = plan(*[[command(BUSY), wait(600_000)]] * 3, **sampling(inject_read_delay_ms=30))
    played = sampled.play(planned, sampled_all)
    assert {lived.fate for lived in played.outcome.sessions} == {"cancelled"}
    assert {one["outcome"] for one in samples(sampled, "resource_end")} == {"drained"}
    assert (sampled.audits("fail"), sampled.audits("unknown")) == ([], [])
    assert sampled.left() == []


def test_the_scheduler_is_responsive_under_blocking_reads_and_is_not_where_they_are_its_own(sampled: Runs) -> None:
    steps = [wait(10), command("true")] * 3
    planned = [[{**step, **({"id": str(n)} if "id" in step else {})} for n, step in enumerate(steps)]] * 10
    extra: dict[str, int] = {}
    for mode in ("isolated", "inline"):
        sampled.samples = sampled.top / f"{mode}.ndjson"
        played = sampled.play(plan(*planned, **sampling(mode=mode, inject_read_delay_ms=30)))
        assert [lived.fate for lived in played.outcome.sessions] == ["completed"] * 10
        assert min(one["end"] - one["begin"] for one in samples(sampled)) >= 30 * MS
        extra[mode] = max(lived.extra_ns for lived in played.outcome.sessions)
        assert (sampled.audits("fail"), sampled.audits("unknown")) == ([], [])
    assert extra["inline"] > 3 * extra["isolated"]


def test_errors_propagate_a_group_that_vanishes_ends_its_measurement_as_an_error(sampled: Runs) -> None:
    def vanish() -> bool:
        if sampled.of("tj_command") and samples(sampled, n=0):
            for top in sampled.groups():
                for below in [*top.glob("session-0/*/"), *top.glob("session-0")]:
                    if below.is_dir():
                        below.rmdir()
        return False

    sampled.play(plan([command("true"), wait(400)], **sampling()), vanish)
    assert [one["outcome"] for one in samples(sampled, "resource_end")] == ["error"]


def test_the_pool_is_separate_from_commands_every_thread_that_starts_one_may_be_held_up_and_sampling_goes_on(
    sampled: Runs, monkeypatch: pytest.MonkeyPatch
) -> None:
    held, begun = threading.Event(), threading.Semaphore(0)

    def held_up(order: Order, output: int, within_ns: int) -> Started:
        begun.release()
        held.wait()
        return start(order, output, within_ns)

    def enough() -> bool:
        # All four launchers stand still, and every session, the one that waits for a launcher too, is sampled on.
        if not held.is_set() and sampled.samples is not None and sampled.samples.exists():
            counts = [len(samples(sampled, n=n)) for n in range(5)]
            if min(counts) >= 3 and all(begun.acquire(blocking=False) for _ in range(4)):
                held.set()
        return False

    monkeypatch.setattr(local_command, "start", held_up)
    played = sampled.play(plan(*[[command("true")]] * 5, **sampling()), enough)
    assert [lived.fate for lived in played.outcome.sessions] == ["completed"] * 5
