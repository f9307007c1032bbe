"""The probe's client: it never blocks and never raises, and says what it lost."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from perfq.probe import AllocationGrowth, Probe


@pytest.fixture
def ends() -> Iterator[tuple[socket.socket, socket.socket]]:
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
    ours.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 8192)
    yield ours, theirs
    ours.close()
    theirs.close()


def read_all(theirs: socket.socket) -> list[dict[str, Any]]:
    """All lines up to the end of the connection."""
    theirs.settimeout(5)
    text = b"".join(iter(lambda: theirs.recv(65536), b""))
    assert text == b"" or text.endswith(b"\n")
    return [json.loads(line) for line in text.splitlines()]


def test_without_a_listener_every_call_does_nothing(tmp_path: Path) -> None:
    for environment in ({}, {"PERFQ_PROBE": str(tmp_path / "nobody.sock")}):
        probe = Probe.from_environment(environment)
        assert not probe.active
        probe.hello("me", "1", {})
        probe.event_received("pods", "", "1")
        probe.flush()
        probe.close()


def test_it_connects_to_the_socket_that_the_environment_names(tmp_path: Path) -> None:
    path = tmp_path / "probe.sock"
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listener:
        listener.bind(str(path))
        listener.listen(1)
        probe = Probe.from_environment({"PERFQ_PROBE": str(path)})
        accepted, _ = listener.accept()
        probe.hello("me", "1.2", {"lib": "3"})
        probe.close()
        with accepted:
            (hello,) = read_all(accepted)
    assert hello.pop("t") <= time.monotonic_ns()
    assert hello == {"k": "hello", "client": "me", "version": "1.2", "libraries": {"lib": "3"}}


def test_lines_say_what_the_protocol_names(ends: tuple[socket.socket, socket.socket]) -> None:
    ours, theirs = ends
    probe = Probe(ours)
    probe.interactive(t=5)
    probe.list_complete("pods", "", 3)
    probe.populated("pods", "", 3, t=6)
    probe.event_received("pods", "a", "17", t=7)
    probe.rendered("pods", "a", "17", 1, t=8)
    probe.coalesced("pods", "a", 2)
    probe.dropped("pods", "a", 4)
    probe.backlog(9)
    probe.digest("pods", "s", None)
    probe.close()
    lines = read_all(theirs)
    assert all(isinstance(line["t"], int) for line in lines)
    assert [{key: value for key, value in line.items() if key != "t"} for line in lines] == [
        {"k": "interactive"},
        {"k": "list_complete", "kind": "pods", "scope": "", "objects": 3},
        {"k": "populated", "kind": "pods", "scope": "", "rows": 3},
        {"k": "event_received", "kind": "pods", "scope": "a", "rv": "17"},
        {"k": "rendered", "kind": "pods", "scope": "a", "rv": "17", "rows_changed": 1},
        {"k": "coalesced", "kind": "pods", "scope": "a", "n": 2},
        {"k": "dropped", "kind": "pods", "scope": "a", "n": 4},
        {"k": "backlog", "depth": 9},
        {"k": "digest", "kind": "pods", "store": "s", "table": None},
    ]
    assert [line["t"] for line in lines[:5:2]] == [5, 6, 8]


def test_a_listener_that_does_not_read_never_blocks_it_and_is_told_what_was_lost(
    ends: tuple[socket.socket, socket.socket],
) -> None:
    ours, theirs = ends
    probe = Probe(ours, buffer_bytes=4096)
    for number in range(5_000):
        probe.backlog(number)
    assert probe.lost > 0
    lines: list[dict[str, Any]] = []
    reader = threading.Thread(target=lambda: lines.extend(read_all(theirs)))
    reader.start()
    deadline = time.monotonic() + 10
    while probe.lost and time.monotonic() < deadline:
        probe.flush()
    probe.close()
    reader.join(10)
    kinds = Counter(line["k"] for line in lines)
    lost = sum(line["n"] for line in lines if line["k"] == "lost")
    assert kinds["backlog"] + lost == 5_000
    depths = [line["depth"] for line in lines if line["k"] == "backlog"]
    assert depths == sorted(depths)


def test_a_listener_that_goes_away_ends_the_probe_and_not_the_program(
    ends: tuple[socket.socket, socket.socket],
) -> None:
    ours, theirs = ends
    probe = Probe(ours)
    theirs.close()
    for number in range(100):
        probe.backlog(number)
    assert not probe.active
    probe.close()


def test_lines_of_several_threads_stay_whole(ends: tuple[socket.socket, socket.socket]) -> None:
    ours, theirs = ends
    probe = Probe(ours)
    lines: list[dict[str, Any]] = []
    reader = threading.Thread(target=lambda: lines.extend(read_all(theirs)))
    reader.start()

    def write() -> None:
        for i in range(500):
            probe.event_received("pods", "", str(i))

    writers = [threading.Thread(target=write) for _ in range(4)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    deadline = time.monotonic() + 10
    while probe.waiting and time.monotonic() < deadline:
        probe.flush()
    probe.close()
    reader.join(10)
    assert len(lines) == 2_000


#: Lines of its own file keep 1 MB and 2 KB; more than 25 others, whose names are as long as names can be, keep less.
GROWING = """
from perfq.probe import AllocationGrowth, Probe

probe = Probe.from_environment()
growth = AllocationGrowth(probe)
kept = [bytes(500_000)]
growth.begin()
kept.append(bytes(1_000_000))
kept.append([bytes(10) for _ in range(50)])
for number in range(40):
    exec(compile("kept.append(bytes(100_000 + 5_000 * number))", f"/{number}" + "x" * LENGTH, "exec"))
growth.report()
probe.close()
"""


def grown(folder: Path, *, traced: bool, name_length: int = 10) -> list[dict[str, Any]]:
    """The lines of a program that keeps more and more, as a listener reads them."""
    program = folder / "growing.py"
    program.write_text(GROWING.replace("LENGTH", str(name_length)))
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONTRACEMALLOC"}
    environment |= {"PERFQ_PROBE": str(folder / "probe.sock")} | ({"PYTHONTRACEMALLOC": "1"} if traced else {})
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listener:
        listener.bind(environment["PERFQ_PROBE"])
        listener.listen(1)
        with subprocess.Popen([sys.executable, program], env=environment) as running:
            listener.settimeout(30)
            accepted, _ = listener.accept()
            with accepted:
                lines = read_all(accepted)
    assert running.returncode == 0
    return lines


def test_the_line_of_source_that_keeps_the_most_since_the_beginning_leads(tmp_path: Path) -> None:
    (alloc,) = grown(tmp_path, traced=True)
    assert alloc["k"] == "alloc"
    first, *others = alloc["growth"]
    assert (first["file"], first["line"]) == (str(tmp_path / "growing.py"), 8)
    assert (first["bytes"] // 100_000, first["count"]) == (10, 1)
    assert len(others) == 24
    assert [one["bytes"] for one in others] == sorted((one["bytes"] for one in others), reverse=True)
    assert others[0]["file"].startswith("/39x")
    assert alloc["traced_bytes"] > 1_500_000 + 40 * 100_000
    assert alloc["seconds"] > 0


def test_names_of_any_length_leave_the_line_within_what_a_line_may_have(tmp_path: Path) -> None:
    (alloc,) = grown(tmp_path, traced=True, name_length=4000)
    assert 10 <= len(alloc["growth"]) < 25
    assert len(json.dumps(alloc)) < 65_536


def test_a_program_that_traces_nothing_says_nothing_of_allocations(tmp_path: Path) -> None:
    assert grown(tmp_path, traced=False) == []
    assert not AllocationGrowth(Probe(None)).active
