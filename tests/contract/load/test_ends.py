"""How a run ends: against a server that stalls, by Ctrl-C, killed, on a full disk. In time, with what was measured."""

from __future__ import annotations

import json
import resource
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.contract.deadline import wait_for
from tests.contract.load.against import Protocol, Running, load_profile, run, start
from tests.contract.load.conftest import Starts

pytestmark = pytest.mark.contract

both = pytest.mark.parametrize("protocol", ["http1", "http2"])
RATE = 200


def took_seconds(record: list[dict[str, object]]) -> float:
    """From T0 to the last line of the drive."""
    (t0,) = (line["t0"] for line in record if line["k"] == "load_segment")
    (end,) = (line["t"] for line in record if line["k"] == "load_end")
    assert isinstance(t0, int)
    assert isinstance(end, int)
    return (end - t0) / 1e9


@both
def test_a_server_that_stops_answering_in_mid_run_cannot_hold_it(
    contrary: Starts, tmp_path: Path, protocol: Protocol
) -> None:
    """A load of 2 s, the server silent after one, two of grace: INVALID, and over after 4 s."""
    server = contrary(rules=[{"path": "/configmaps", "after_s": 1, "do": "never"}])
    profile = load_profile(tmp_path, protocol, RATE, 2 * RATE)
    ended = run(tmp_path / "run", server, profile, "--grace", "2s")
    load = ended.load
    assert ended.code == 4, ended.explain()
    assert ended.result["verdict"]["status"] == "INVALID"
    assert RATE / 2 <= load["ok"] <= 1.2 * RATE
    assert 0 < load["cancelled"] <= 64
    assert load["not_sent"] > 0
    assert load["planned"] == 2 * RATE
    assert took_seconds(ended.record) <= 6
    # What was cancelled is in no latency.
    assert ended.result["latency"]["response"]["count"] == load["ok"]


@both
def test_with_a_timeout_of_the_clients_own_what_stalls_is_timed_out(
    contrary: Starts, tmp_path: Path, protocol: Protocol
) -> None:
    server = contrary(rules=[{"path": "/configmaps", "after_s": 1, "do": "never"}])
    profile = load_profile(tmp_path, protocol, RATE, 2 * RATE)
    ended = run(tmp_path / "run", server, profile, "--grace", "2s", "--timeout", "1500ms")
    load = ended.load
    assert ended.code == 4, ended.explain()
    assert load["timed_out"] > 0
    assert load["ok"] <= 1.2 * RATE
    assert took_seconds(ended.record) <= 6


@both
def test_a_server_process_that_is_stopped_cannot_hold_it_either(
    contrary: Starts, tmp_path: Path, protocol: Protocol
) -> None:
    """SIGSTOP: its sockets take what their buffers take, and nothing else happens."""
    server = contrary()
    running = start(tmp_path / "run", server, load_profile(tmp_path, protocol, RATE, 2 * RATE), "--grace", "2s")
    try:
        assert wait_for(lambda: server.asked() >= RATE)
        server.process.send_signal(signal.SIGSTOP)
        ended = running.ended()
    finally:
        server.process.send_signal(signal.SIGCONT)
    assert ended.code == 4, ended.explain()
    assert ended.load["cancelled"] + ended.load["not_sent"] > 0
    assert took_seconds(ended.record) <= 6


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_the_run_in_order_with_what_was_measured(
    contrary: Starts, tmp_path: Path, number: signal.Signals
) -> None:
    server = contrary()
    running = start(tmp_path / "run", server, load_profile(tmp_path, "http2", RATE, 60 * RATE))
    assert wait_for(lambda: server.asked() >= RATE)
    running.process.send_signal(number)
    ended = running.ended(30)
    assert ended.code == 130, ended.explain()
    assert ended.result["verdict"]["status"] == "ABORTED"
    load = ended.load
    assert load["ok"] >= RATE - 64
    assert load["ok"] <= server.counts()["completed"]["200"]
    assert load["not_sent"] > 0
    assert ended.result["latency"]["response"]["count"] == load["ok"]
    assert (ended.out / "report.md").exists()
    # Nothing was on the wire, so that there was nothing to wait for.
    (end,) = (line for line in ended.record if line["k"] == "load_end")
    assert end["drain_ns"] <= 2_000_000_000


def test_a_second_interrupt_leaves_at_once(contrary: Starts, tmp_path: Path) -> None:
    """What hangs on the wire would have its grace."""
    server = contrary(rules=[{"path": "/configmaps", "do": "never"}])
    running = start(tmp_path / "run", server, load_profile(tmp_path, "http2", RATE, 60 * RATE))
    assert wait_for(lambda: server.asked() >= 10)
    running.process.send_signal(signal.SIGINT)
    assert wait_for(lambda: bool(running.recorded("stopping")) or running.process.poll() is not None, 30)
    running.process.send_signal(signal.SIGINT)
    ended = running.ended(30)
    assert ended.code in (6, 130), ended.explain()
    assert "Traceback" not in ended.text


def test_a_killed_run_is_reported_from_its_record(contrary: Starts, tmp_path: Path) -> None:
    server = contrary()
    running = start(tmp_path / "run", server, load_profile(tmp_path, "http2", RATE, 60 * RATE))
    assert wait_for(lambda: len(running.recorded("load_slice")) >= 2)
    running.process.kill()
    running.process.communicate(timeout=30)
    recorded = sum(one["ok"] for one in running.recorded("load_slice"))
    document = reported(running)
    assert document["verdict"]["status"] == "ABORTED"
    assert document["load"]["ok"] == recorded >= RATE
    assert document["load"]["ok"] <= server.counts()["completed"]["200"]


def reported(running: Running) -> dict[str, Any]:
    """What `perfq report` makes of it."""
    command = [sys.executable, "-m", "perfq", "report", str(running.out), "--format", "json"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    document: dict[str, Any] = json.loads(done.stdout)
    return document


def limit_files(running: Running, size: int) -> None:
    """Each write beyond so many bytes of a file fails from now on, as on a full disk."""
    resource.prlimit(running.process.pid, resource.RLIMIT_FSIZE, (size, size))


def test_a_record_that_cannot_grow_makes_the_run_invalid_with_what_was_written(
    contrary: Starts, tmp_path: Path
) -> None:
    server = contrary()
    running = start(tmp_path / "run", server, load_profile(tmp_path, "http2", RATE, 6 * RATE))
    assert wait_for(lambda: len(running.recorded("load_slice")) >= 2)
    # Room for every other file.
    limit_files(running, max(40_000, (running.out / "samples.ndjson").stat().st_size))
    ended = running.ended()
    assert ended.code == 4, ended.explain()
    assert "File too large" in ended.text
    assert "Traceback" not in ended.text
    document = json.loads((ended.out / "result.json").read_text())
    assert document["verdict"]["status"] == "INVALID"
    assert RATE <= document["load"]["ok"] < 6 * RATE


def test_where_not_even_the_result_can_be_written_the_way_to_it_is_named(contrary: Starts, tmp_path: Path) -> None:
    server = contrary()
    running = start(tmp_path / "run", server, load_profile(tmp_path, "http2", RATE, 4 * RATE))
    assert wait_for(lambda: len(running.recorded("load_slice")) >= 2)
    limit_files(running, 2000)
    ended = running.ended()
    assert ended.code == 4, ended.explain()
    assert f"make room, then run: perfq report {ended.out}" in ended.text
    assert "Traceback" not in ended.text
    document = reported(running)
    assert document["verdict"]["status"] == "ABORTED"
    assert document["load"]["ok"] >= RATE
