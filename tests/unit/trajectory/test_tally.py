"""Where a run stands, told from its own lines."""

from __future__ import annotations

from typing import Any

import pytest
from tests.unit.synthetic_sessions import EXTRA, MS, SECOND, SESSIONS, T0, ideal_sessions
from tests.unit.trajectory.plans import command, plan

from perfq.trajectory.tally import Tally


@pytest.fixture
def tally() -> Tally:
    offsets = [0] * 4 + [2000] * 4
    return Tally(plan(*[[command("true")]] * SESSIONS, offsets=offsets), lambda _: None)


def fed(tally: Tally, until_ns: int, lines: list[dict[str, Any]] | None = None) -> Tally:
    for line in ideal_sessions().lines if lines is None else lines:
        if line["k"].startswith("tj_") and line["t"] <= until_ns:
            tally.write({"pause_begin": None, "pause_end": None, "resume_begin": None, "resume_end": None, **line})
    return tally


def test_sessions_are_counted_where_they_are(tally: Tally) -> None:
    fed(tally, T0)
    assert (tally.running, tally.queued, tally.done) == (4, 0, 0)
    fed(tally, T0 + 9 * SECOND)
    assert (tally.running, tally.queued, tally.done, tally.commands) == (0, 0, SESSIONS, 2 * SESSIONS + 0)


def test_the_extra_wait_so_far_is_a_mean_and_the_worst_over_sessions(tally: Tally) -> None:
    assert tally.extra_ns is None
    fed(tally, T0 + SECOND)
    assert tally.extra_ns == (EXTRA, EXTRA)


def test_the_latest_arrival_is_known_while_the_run_goes_on(tally: Tally) -> None:
    tally.write({"k": "tj_start", "t": T0})
    assert tally.late_max_ns is None
    for n, late in ((0, 3 * MS), (1, 9 * MS), (2, 1 * MS)):
        tally.write({"k": "tj_state", "t": T0 + late, "n": n, "state": "queued"})
    assert tally.late_max_ns == 9 * MS


def test_commands_that_did_not_end_by_themselves_are_counted(tally: Tally) -> None:
    for outcome in ("done", "timed_out_cleaned", "unknown"):
        tally.write({"k": "tj_command", "n": 0, "outcome": outcome})
    assert (tally.commands, tally.commands_failed) == (3, 2)


def test_a_line_of_progress_says_what_there_is_to_say(tally: Tally) -> None:
    assert tally.status(T0) == "starting"
    tally.write({"k": "tj_start", "t": T0})
    assert tally.status(T0 + SECOND) == "1.0 s · running 0 · queued 0 · done 0 of 8"
    fed(tally, T0 + SECOND)
    tally.write({"k": "tj_session", "n": 0, "outcome": "failed"})
    assert tally.status(T0 + 1500 * MS, usage_bytes=1 << 30, budget_bytes=4 << 30) == (
        "1.5 s · running 0 · queued 0 · done 4 of 8 (1 failed) · memory 1 GiB of 4 GiB · extra wait 1 ms (worst 1 ms)"
    )


def test_every_line_is_passed_on() -> None:
    seen: list[dict[str, object]] = []
    Tally(plan([command("true")]), seen.append).write({"k": "tj_delay", "t": 1})
    assert seen == [{"k": "tj_delay", "t": 1}]
