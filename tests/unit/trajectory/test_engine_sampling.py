"""Sessions as the engine samples them for the scheduler: beside it, or, inline, in its way."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from perfq.profile.trajectory.profile import SamplingOptions
from perfq.trajectory.clock import MonotonicClock
from perfq.trajectory.engine_sampling import UNKNOWN_PLACE, EngineSampling, engine_sampling
from perfq.trajectory.waits import PauseRefused


@pytest.fixture
def process() -> Iterator[int]:
    """The pid of a process that does nothing."""
    with subprocess.Popen([sys.executable, "-S", "-c", "input()"], stdin=subprocess.PIPE) as child:
        yield child.pid
        child.communicate(b"\n")


def options(**given: Any) -> SamplingOptions:
    return SamplingOptions.model_validate({"delay_after_ms": 5, "sources": ["proc"], **given})


def lines(file: Path, kind: str) -> list[dict[str, Any]]:
    return [line for line in map(json.loads, file.read_text().splitlines()) if line["k"] == kind]


async def until_sampled(file: Path, count: int) -> int:
    """Turns of the loop until there are so many samples."""
    turns = 0
    while len(lines(file, "resource")) < count:
        await asyncio.sleep(0.001)
        turns += 1
    return turns


def test_the_scheduler_is_responsive_under_blocking_reads(tmp_path: Path, process: int) -> None:
    async def go(mode: str) -> int:
        file = tmp_path / mode
        given = options(mode=mode, inject_read_delay_ms=50)
        async with engine_sampling(given, file, MonotonicClock()) as sampling:
            sampling.attach(0, {"pid": process})
            turns = await until_sampled(file, 4)
            await sampling.drain(0)
        return turns

    # 4 reads of 50 ms: beside them the loop turns about once a millisecond, in their way about five times a period.
    assert asyncio.run(go("isolated")) > 2 * asyncio.run(go("inline"))


def test_inline_reads_are_on_the_thread_of_the_scheduler(
    tmp_path: Path, process: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def go() -> None:
        async with engine_sampling(options(mode="inline"), tmp_path / "file", MonotonicClock()) as sampling:
            before = threading.active_count()
            sampling.attach(0, {"pid": process})
            await until_sampled(tmp_path / "file", 2)
            assert threading.active_count() == before
            await sampling.drain(0)
            counted = len(lines(tmp_path / "file", "resource"))
            await asyncio.sleep(0)
            assert len(lines(tmp_path / "file", "resource")) == counted
        (end,) = lines(tmp_path / "file", "resource_close")
        assert end["cpu_ns"] is None

    asyncio.run(go())


@pytest.mark.parametrize("mode", ["isolated", "inline"])
def test_no_sample_falls_between_stop_and_continue_and_none_after_the_drain(
    tmp_path: Path, process: int, mode: str
) -> None:
    async def go() -> tuple[int, int, int]:
        file = tmp_path / "file"
        async with engine_sampling(options(mode=mode), file, MonotonicClock()) as sampling:
            sampling.attach(0, {"pid": process})
            await until_sampled(file, 2)
            await sampling.pause(0)
            stopped, taken = time.monotonic_ns(), len(lines(file, "resource"))
            for _ in range(20):
                await asyncio.sleep(0.001)
            continued = time.monotonic_ns()
            await sampling.resume(0)
            await until_sampled(file, taken + 2)
            drained = await sampling.drain(0)
            assert {audit.status for audit in drained.audits()} == {"pass"}
            return stopped, continued, drained.stopped_ns

    stopped, continued, ended = asyncio.run(go())
    samples = lines(tmp_path / "file", "resource")
    assert all(one["end"] <= stopped or one["begin"] >= continued for one in samples)
    assert all(one["end"] <= ended for one in samples)
    assert any(one["begin"] >= continued for one in samples)


def test_a_pause_is_refused_while_a_read_does_not_return(tmp_path: Path, process: int) -> None:
    async def go() -> None:
        given = options(inject_read_delay_ms=400, drain_timeout_ms=20)
        async with engine_sampling(given, tmp_path / "file", MonotonicClock()) as sampling:
            sampling.attach(0, {"pid": process})
            assert isinstance(sampling, EngineSampling)
            while not sampling.sampler.figures()["in_flight"]:
                await asyncio.sleep(0)
            with pytest.raises(PauseRefused, match="a read of its sampler does not return"):
                await sampling.pause(0)
            await sampling.resume(0)
            drained = await sampling.drain(0)
            assert next(audit.status for audit in drained.audits()) == "fail"

    asyncio.run(go())


def test_a_session_of_which_nothing_can_be_read_has_an_unknown_audit(tmp_path: Path) -> None:
    async def go() -> list[tuple[str, str]]:
        async with engine_sampling(options(), tmp_path / "file", MonotonicClock()) as sampling:
            sampling.attach(0, {"pid": None, "cgroups": None})
            sampling.attach(1, {"pid": None, "cgroups": {"memory": str(tmp_path / "gone")}})
            await sampling.pause(0)
            await sampling.resume(0)
            return [(a.status, a.evidence) for n in (0, 1) for a in (await sampling.drain(n)).audits()[:1]]

    (nothing, gone) = asyncio.run(go())
    assert nothing == ("unknown", UNKNOWN_PLACE)
    assert gone[0] == "unknown"
    assert "it could not be sampled" in gone[1]


def test_off_there_is_no_file(tmp_path: Path) -> None:
    async def go() -> None:
        async with engine_sampling(options(mode="off"), tmp_path / "file", MonotonicClock()) as sampling:
            sampling.attach(0, {"pid": 1})
            assert (await sampling.drain(0)).drained

    asyncio.run(go())
    assert not (tmp_path / "file").exists()
