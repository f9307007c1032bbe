"""`perfq.Sampler` as another controller sees it: real processes, reads that hang on purpose."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from perfq import Sampler

HOUR_MS = 3_600_000


@contextmanager
def programs(count: int) -> Iterator[list[subprocess.Popen[bytes]]]:
    started = [subprocess.Popen(["cat"], stdin=subprocess.PIPE) for _ in range(count)]
    try:
        yield started
    finally:
        for program in started:
            program.kill()
            program.communicate()


def wait_for(what: str, holds: Callable[[], bool]) -> None:
    """Polls until it holds; a test that waits in vain fails here."""
    deadline = time.monotonic() + 30
    while not holds():
        assert time.monotonic() < deadline, f"never: {what}"
        time.sleep(0.001)


def records(path: Path, kind: str = "resource") -> list[dict[str, Any]]:
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    return [line for line in lines if line["k"] == kind]


def hanging(count: int, at: str = "start") -> dict[str, Any]:
    return {"delay_after_ms": 1, "inject_hangs": [{"session": n, "at": at, "ms": HOUR_MS} for n in range(count)]}


@contextmanager
def all_workers_hang() -> Iterator[Sampler]:
    with programs(6) as started:
        sampler = Sampler.start({**hanging(4), "drain_timeout_ms": 50})
        for n in range(4):
            sampler.attach(n, pid=started[n].pid)
        wait_for("four reads hang", lambda: sampler.figures()["in_flight"] == 4)
        for n in (4, 5):
            sampler.attach(n, pid=started[n].pid)
        yield sampler
        assert sampler.close()["in_flight"] == 4, "they hung all the time"


def test_the_scheduler_is_responsive_under_blocking_reads() -> None:
    async def schedule(sampler: Sampler) -> int:
        ticks = 0
        for _ in range(200):
            await asyncio.sleep(0)
            ticks += 1
            for n in range(6):
                assert sampler.pause(n, wait_ms=0)["acknowledged"] is (n >= 4)
                sampler.resume(n)
        return ticks

    with all_workers_hang() as sampler:
        assert asyncio.run(schedule(sampler)) == 200


def test_the_pool_is_separate_from_commands() -> None:
    async def commands() -> list[int]:
        started = [await asyncio.create_subprocess_exec(sys.executable, "-S", "-c", "pass") for _ in range(3)]
        threads = [asyncio.to_thread(sum, range(9)) for _ in range(20)]
        assert await asyncio.gather(*threads) == [36] * 20
        return [await command.wait() for command in started]

    with all_workers_hang() as sampler:
        assert asyncio.run(commands()) == [0, 0, 0]
        assert sampler.figures()["taken"] == 0


def reading_threads() -> set[str]:
    """Of every sampler in this process: those of former tests may still hang."""
    found = set()
    for path in Path("/proc/self/task").glob("*/comm"):
        with suppress(FileNotFoundError, ProcessLookupError):
            found |= {path.parent.name} if path.read_text().startswith("perfq-read-") else set()
    return found


def test_workers_are_bounded() -> None:
    before = reading_threads()
    with (
        programs(20) as started,
        Sampler.start({"workers": 3, "delay_after_ms": 1, "inject_read_delay_ms": 5}) as sampler,
    ):
        for n, program in enumerate(started):
            sampler.attach(n, pid=program.pid)
        wait_for("each has a sample", lambda: all(last["t"] for last in sampler.last_samples()))
        assert len(reading_threads() - before) == 3
        figures = sampler.close()
    # A thread that was joined stands in /proc a moment longer.
    wait_for("they have ended", lambda: not reading_threads() - before)
    assert (figures["in_flight_max"], figures["drained"]) == (3, 20)
    assert figures["waiting_max"] > 0
    assert figures["coverage_ppm"] is not None


def test_a_cancelled_session_is_drained_on_cancel_and_nothing_is_later_than_its_stop(tmp_path: Path) -> None:
    path = tmp_path / "resources.ndjson"

    async def session(sampler: Sampler, pid: int) -> None:
        sampler.attach(0, pid=pid)
        try:
            await asyncio.sleep(HOUR_MS)
        finally:
            while sampler.drain(0, wait_ms=0)["outcome"] is None:
                await asyncio.sleep(0.001)

    async def run(sampler: Sampler, pid: int) -> None:
        task = asyncio.create_task(session(sampler, pid))
        while sampler.figures()["taken"] < 3:
            await asyncio.sleep(0.001)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)

    options = {"path": str(path), "delay_after_ms": 1, "inject_read_delay_ms": 20}
    with programs(1) as (program,), Sampler.start(options) as sampler:
        asyncio.run(run(sampler, program.pid))
        end = sampler.drain(0)
        assert end["stopped"] is not None
        assert (end["outcome"], end["why"]) == ("drained", None)
    taken = records(path)
    assert len(taken) == end["taken"] >= 3
    assert all(sample["end"] <= end["stopped"] for sample in taken)
    (line,) = records(path, "resource_end")
    assert (line["t"], line["outcome"], line["taken"]) == (end["stopped"], "drained", end["taken"])


def test_errors_propagate_to_the_session_the_figures_and_the_record(tmp_path: Path) -> None:
    path = tmp_path / "resources.ndjson"
    with programs(2) as (fine, gone), Sampler.start({"path": str(path), "delay_after_ms": 1}) as sampler:
        sampler.attach(7, pid=fine.pid)
        sampler.attach(8, pid=gone.pid)
        gone.kill()
        wait_for("the error", lambda: sampler.last_samples()[1]["error"] is not None)
        end = sampler.drain(8)
        assert end["outcome"] == "error"
        assert end["why"] is not None
        assert end["why"].startswith(f"process {gone.pid} ")
        figures = sampler.close()
    assert (figures["errors"], figures["drained"], figures["leaked"]) == (1, 1, 0)
    assert [(line["n"], line["why"]) for line in records(path, "resource_error")] == [(8, end["why"])]


def test_a_real_observer_sees_what_a_process_uses(tmp_path: Path) -> None:
    path = tmp_path / "resources.ndjson"
    script = "held = bytearray(64 << 20); print(flush=True); input()"
    options = {"path": str(path), "delay_after_ms": 1, "sources": ["proc", "smaps_rollup"], "smaps_every": 2}
    with (
        subprocess.Popen([sys.executable, "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as program,
        Sampler.start(options) as sampler,
    ):
        assert program.stdin is not None
        assert program.stdout is not None
        program.stdout.readline()
        sampler.attach(0, pid=program.pid)
        wait_for("samples", lambda: sampler.figures()["taken"] >= 6)
        sampler.close()
        program.stdin.close()
    taken = records(path)
    assert all(sample["proc"]["rss"] > 64 << 20 for sample in taken)
    assert all(sample["proc"]["cpu_ns"] >= 0 for sample in taken)
    with_smaps = [sample["smaps"] is not None for sample in taken]
    assert with_smaps[:4] == [True, False, True, False]
    assert taken[0]["smaps"]["pss"] > 64 << 20
    assert taken[0]["memory"] is None


@pytest.mark.parametrize(("at", "taken"), [("start", 0), ("middle", 2)])
def test_a_read_that_hangs_is_leaked_which_is_a_verdict(at: str, taken: int) -> None:
    with programs(1) as (program,):
        sampler = Sampler.start({**hanging(1, at), "drain_timeout_ms": 20})
        sampler.attach(0, pid=program.pid)
        wait_for("it hangs", lambda: sampler.figures()["taken"] == taken and sampler.figures()["in_flight"] == 1)
        end = sampler.drain(0)
        assert (end["outcome"], end["taken"], end["counters"]) == ("leaked", taken, None)
        assert sampler.close()["leaked"] == 1


def test_a_read_that_hangs_at_the_stop_is_leaked_too() -> None:
    with programs(1) as (program,):
        sampler = Sampler.start({**hanging(1, "stop"), "drain_timeout_ms": 20})
        sampler.attach(0, pid=program.pid)
        assert sampler.close()["leaked"] == 1


def test_a_full_disk_is_told_and_stops_nothing(tmp_path: Path) -> None:
    script = """
import json, os, resource, sys, time
from perfq import Sampler
resource.setrlimit(resource.RLIMIT_FSIZE, (1500, 1500))
with Sampler.start({"path": sys.argv[1], "delay_after_ms": 1}) as sampler:
    sampler.attach(0, pid=os.getpid())
    while sampler.figures()["taken"] < 20:
        time.sleep(0.001)
    print(json.dumps(sampler.close()))
"""
    path = tmp_path / "resources.ndjson"
    done = subprocess.run([sys.executable, "-c", script, str(path)], capture_output=True, text=True, check=True)
    figures = json.loads(done.stdout)
    assert figures["taken"] >= 20
    assert figures["lost"] > 0
    assert "cannot write the samples" in figures["error"]
    whole = path.read_text().splitlines()[:-1]
    assert len(whole) == figures["lines"]
    assert all(json.loads(line) for line in whole)


def test_inline_reads_on_the_thread_that_asks() -> None:
    with programs(1) as (program,), Sampler.start({"mode": "inline", "delay_after_ms": 1}) as sampler:
        due = sampler.attach(0, pid=program.pid)
        following = sampler.sample(0)
        assert following is not None
        assert following > due
        sampler.pause(0)
        assert sampler.sample(0) is None
        figures = sampler.close()
    assert (figures["taken"], figures["cpu_ns"], figures["drained"]) == (1, None, 1)


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"workers": 0}, "workers is 0, expected 1 … 64"),
        ({"delay_after_ms": 0}, "delay_after_ms is 0"),
        ({"sources": ["ps"]}, "ps"),
        ({"source": []}, "source"),
        ({"mode": "off"}, "off"),
    ],
)
def test_bad_options_are_value_errors(options: dict[str, object], text: str) -> None:
    with pytest.raises(ValueError, match=text):
        Sampler.start(options)


def test_what_cannot_be_attached_is_refused(tmp_path: Path) -> None:
    existing = tmp_path / "resources.ndjson"
    existing.touch()
    with pytest.raises(FileExistsError):
        Sampler.start({"path": str(existing)})
    with programs(1) as (program,), Sampler.start({}) as sampler:
        with pytest.raises(ProcessLookupError, match="process 4194305 does not live"):
            sampler.attach(0, pid=4_194_305)
        with pytest.raises(FileNotFoundError, match="no-such-group"):
            sampler.attach(0, cgroup="/perfq-no-such-group")
        with pytest.raises(ValueError, match="neither"):
            sampler.attach(0)
        sampler.attach(0, pid=program.pid)
        with pytest.raises(ValueError, match="attached before"):
            sampler.attach(0, pid=program.pid)
        with pytest.raises(ValueError, match="session 4 has not been attached"):
            sampler.pause(4)
        with pytest.raises(ValueError, match="inline"):
            sampler.sample(0)


def test_the_example_of_another_controller_runs(tmp_path: Path) -> None:
    example = Path(__file__).resolve().parents[3] / "docs" / "examples" / "sampler" / "controller.py"
    path = tmp_path / "resources.ndjson"
    done = subprocess.run([sys.executable, example, path], capture_output=True, text=True, check=True)
    lines = done.stdout.splitlines()
    assert lines[:8] == [f"session {n}: drained" for n in range(8)]
    assert " samples of " in lines[8]
    pauses = records(path, "resource_pause")
    resumes = records(path, "resource_resume")
    assert len(pauses) == len(resumes) == 24
    for pause, resume in zip(sorted(pauses, key=in_order), sorted(resumes, key=in_order), strict=True):
        mine = [sample for sample in records(path) if sample["n"] == pause["n"]]
        assert not [sample for sample in mine if sample["end"] > pause["t"] and sample["begin"] < resume["t"]]


def in_order(line: dict[str, Any]) -> tuple[int, int]:
    return line["n"], line["t"]
