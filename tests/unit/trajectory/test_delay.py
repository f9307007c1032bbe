"""The scheduler's delay: windows of 10 s, nearest rank, one stall is one delay."""

from __future__ import annotations

import asyncio

from perfq.trajectory.delay import PROBE_NS, WINDOW_NS, DelayWindows, probe


def test_each_window_has_its_own_figures_and_one_that_saw_nothing_has_no_record() -> None:
    lines: list[dict[str, object]] = []
    windows = DelayWindows(100, lines.append)
    for delay in (1, 3, 2):
        windows.add(101, delay)
    windows.add(100 + 2 * WINDOW_NS, 9)
    windows.flush(7)
    windows.flush(8)
    figures = [tuple(line[name] for name in ("window", "count", "p50", "p99", "max")) for line in lines]
    assert figures == [(0, 3, 2, None, 3), (2, 1, 9, None, 9)]


def test_the_p99_of_fewer_than_100_delays_is_null() -> None:
    lines: list[dict[str, object]] = []
    windows = DelayWindows(0, lines.append)
    for count in (99, 100):
        for delay in range(count):
            windows.add(1, delay)
        windows.flush(1)
    assert [(line["p50"], line["p99"], line["max"]) for line in lines] == [(49, None, 98), (49, 98, 99)]


def test_a_stall_is_one_delay_and_what_was_seen_is_written_when_the_probe_ends() -> None:
    class Stalling:
        now = 0
        turn = 0

        def now_ns(self) -> int:
            return self.now

        async def sleep_until(self, due_ns: int) -> None:
            self.turn += 1
            if self.turn > 3:
                raise asyncio.CancelledError
            self.now = due_ns + (500_000_000 if self.turn == 2 else 0)

    lines: list[dict[str, object]] = []

    async def go() -> bool:
        try:
            await probe(Stalling(), lines.append)
        except asyncio.CancelledError:
            return True
        return False

    assert asyncio.run(go())
    assert [(line["count"], line["p50"], line["max"]) for line in lines] == [(3, 0, 10 * PROBE_NS)]
