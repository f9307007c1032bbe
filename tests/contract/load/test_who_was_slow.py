"""Whose fault it was that the rate was not kept: the target's, or the generator's own."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from tests.contract.deadline import wait_for
from tests.contract.load.against import Protocol, load_profile, run, start
from tests.contract.load.conftest import Starts

pytestmark = pytest.mark.contract

both = pytest.mark.parametrize("protocol", ["http1", "http2"])


@pytest.mark.alone
@both
def test_a_target_slower_than_asked_misses_its_budget_and_is_named(
    contrary: Starts, tmp_path: Path, protocol: Protocol
) -> None:
    """5,000/s asked of a server that does 500/s, at most 64 in flight."""
    server = contrary(rate=500)
    ended = run(tmp_path / "run", server, load_profile(tmp_path, protocol, 5000, 5000))
    result = ended.result
    assert ended.code == 3, ended.explain()
    assert result["load"]["limited_by"] == "target"
    latency = result["latency"]
    assert latency["lag"]["p99"] <= 10_000_000
    assert latency["response"]["p99"] >= 10 * latency["service"]["p99"]
    assert latency["slot_wait"]["p99"] >= 1_000_000_000
    assert server.counts()["max_concurrency"] <= 64
    # Requested is never reported as achieved.
    assert result["load"]["achieved_rate"] <= 600
    assert any("in flight" in line for line in ended.text.splitlines()), "nothing explains it"


@contextmanager
def held_to(share: float, pid: int) -> Iterator[None]:
    """The process gets this share of a CPU: it is stopped for the rest of every 100 ms."""
    done = threading.Event()

    def hold() -> None:
        while not done.is_set():
            os.kill(pid, signal.SIGSTOP)
            time.sleep(0.1 * (1 - share))
            os.kill(pid, signal.SIGCONT)
            time.sleep(0.1 * share)

    thread = threading.Thread(target=hold)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()


@pytest.mark.paced
@both
def test_a_generator_without_time_proves_nothing_and_is_named(
    contrary: Starts, tmp_path: Path, protocol: Protocol
) -> None:
    """The engine held to 5 % of a CPU: its lag is its own, and the target is not blamed for it."""
    server = contrary()
    running = start(tmp_path / "run", server, load_profile(tmp_path, protocol, 5000, 15_000), "--grace", "60s")
    assert wait_for(lambda: server.asked() >= 100)
    with held_to(0.05, running.process.pid):
        assert wait_for(lambda: bool(running.recorded("load_end")), 120)
    ended = running.ended()
    assert ended.code == 4, ended.explain()
    assert ended.result["load"]["limited_by"] == "generator"
    assert ended.result["verdict"]["status"] == "INVALID"


@pytest.mark.paced
@both
def test_a_generator_that_is_stopped_for_a_tenth_of_a_second_shows_it_in_its_lag(
    contrary: Starts, tmp_path: Path, protocol: Protocol
) -> None:
    server = contrary()
    running = start(tmp_path / "run", server, load_profile(tmp_path, protocol, 1000, 4000))
    assert wait_for(lambda: server.asked() >= 500)
    running.process.send_signal(signal.SIGSTOP)
    time.sleep(0.1)
    running.process.send_signal(signal.SIGCONT)
    ended = running.ended()
    latency = ended.result["latency"]
    assert latency["lag"]["max"] >= 95_000_000, ended.explain()
    # From the instant that was due, so that the stop cannot hide.
    assert latency["response"]["max"] >= 95_000_000
    assert latency["service"]["p50"] < latency["lag"]["max"]
    assert ended.load["ok"] == 4000
