"""Real programs in a real pseudo-terminal: what they show, when, and how they end."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.contract.terminals import alive, options

from perfq import _core

pytestmark = pytest.mark.contract


def until(holds: Callable[[], Any], seconds: float = 20) -> Any:
    """Polls with a deadline."""
    deadline = time.monotonic() + seconds
    while not (value := holds()):
        assert time.monotonic() < deadline, "it did not happen in time"
        time.sleep(0.01)
    return value


@pytest.fixture
def start() -> Iterator[Callable[..., _core.Terminal]]:
    started: list[_core.Terminal] = []

    def run(program: str, **more: Any) -> _core.Terminal:
        started.append(_core.Terminal.start(options(program, **more)))
        return started[-1]

    yield run
    for terminal in started:
        terminal.stop(0)


#: A child that leaves the session, ignores SIGHUP and SIGTERM, and writes its pid.
GRANDCHILD = """
import os, signal, sys, time
if os.fork() == 0:
    os.setsid()
    for number in (signal.SIGHUP, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)
    if os.fork() == 0:
        print("grandchild", os.getpid(), flush=True)
        for fd in (0, 1, 2):
            os.close(fd)
        time.sleep(3600)
    os._exit(0)
"""


def test_the_program_has_a_controlling_terminal_of_the_size_before_it_runs(start: Any) -> None:
    terminal = start("""
import os
print(os.get_terminal_size(), os.getsid(0) == os.getpid(), os.tcgetpgrp(0) == os.getpid(), os.isatty(2))
open("/dev/tty").close()
print("end")
""")
    assert terminal.wait_screen(r"columns=80, lines=24\) True True True\nend", 10)


def test_the_program_inherits_no_descriptor_but_its_terminal(start: Any) -> None:
    terminal = start("import os; print('fds', sorted(os.listdir('/proc/self/fd'), key=int)); input()")
    hit = terminal.wait_screen(r"fds \[(.*)\]", 10)
    assert hit and hit["groups"][1] == "'0', '1', '2', '3'"  # 3 is the directory being listed


def test_a_wait_ends_with_the_stamp_of_the_chunk_that_made_it_match(start: Any) -> None:
    before = time.monotonic_ns()
    terminal = start("print('one'); input(); print('two'); input()")
    one = terminal.wait_screen("^(o)ne", 10)
    assert one and one["groups"] == ["one", "o"] and one["row"] == 0
    sent = terminal.write(b"\r")
    two = terminal.wait_screen("two", 10)
    assert two and before < one["t"] < sent < two["t"] < time.monotonic_ns()


@pytest.mark.parametrize(
    ("change", "error", "text"),
    [
        ({"argv": ["no-such-program"]}, FileNotFoundError, "no-such-program"),
        ({"argv": ["/etc/passwd"]}, PermissionError, "/etc/passwd"),
        ({"cwd": "/no/such/place"}, FileNotFoundError, "/no/such/place"),
        ({"argv": []}, ValueError, "argv"),
        ({"cols": 0}, ValueError, "cols: got 0"),
        ({"colour": 1}, ValueError, "colour"),
        ({"supervisor": ["/no/such/python"]}, FileNotFoundError, "supervisor"),
        ({"supervisor": [sys.executable, "-c", "raise SystemExit('broken')"]}, OSError, "broken"),
        ({"milestones": [{"name": "ready", "pattern": "("}]}, ValueError, "milestones.ready.pattern"),
    ],
)
def test_what_cannot_be_started_says_why(change: dict[str, Any], error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        _core.Terminal.start(options("pass", **change))


def test_a_client_that_exits_at_once_leaves_its_code_and_its_last_words(start: Any, tmp_path: Path) -> None:
    recorder = _core.Recorder(tmp_path / "samples.ndjson")
    terminal = start("import sys; print('no kubeconfig'); sys.exit(3)", recorder=recorder)
    exited = until(lambda: terminal.progress()["exited"])
    assert (exited["code"], exited["signal"]) == (3, None)
    assert terminal.screen()["lines"][0] == "no kubeconfig"
    assert terminal.wait_screen("never there", 30) is None  # at once: it can never come
    with pytest.raises(BrokenPipeError):
        terminal.write(b"x")
    recorder.close()
    records = [json.loads(line) for line in (tmp_path / "samples.ndjson").read_text().splitlines()]
    assert [(r["code"], r["t"]) for r in records if r["k"] == "exit"] == [(3, exited["t"])]
    assert [r["bytes"] for r in records if r["k"] == "term"][-1] == terminal.progress()["bytes"] > 0


def test_a_client_killed_by_a_signal_says_which(start: Any) -> None:
    terminal = start("import time; print('up'); time.sleep(3600)")
    assert terminal.wait_screen("up", 10)
    os.kill(terminal.pid, signal.SIGSEGV)
    assert until(lambda: terminal.progress()["exited"])["signal"] == signal.SIGSEGV


def test_stop_ends_politely_and_kills_what_does_not_listen(start: Any) -> None:
    program = "import signal, sys, time\nsignal.signal(signal.SIGTERM, {})\nprint('up'); time.sleep(3600)"
    polite = start(program.format("lambda *_: sys.exit(7)"))
    deaf = start(program.format("signal.SIG_IGN"))
    assert polite.wait_screen("up", 10) and deaf.wait_screen("up", 10)
    assert polite.stop(30)["code"] == 7
    stopped = deaf.stop(0.1)
    assert (stopped["code"], stopped["signal"], stopped["left"]) == (None, signal.SIGKILL, [])
    assert deaf.stop(0)["signal"] == signal.SIGKILL  # again: the same answer
    assert deaf.screen()["lines"][0] == "up"


@pytest.mark.parametrize("end", ["exit", "stop"])
def test_children_left_behind_are_killed_with_the_client(start: Any, end: str) -> None:
    terminal = start(GRANDCHILD + "input()")
    hit = terminal.wait_screen(r"grandchild (\d+)", 10)
    assert hit
    grandchild = int(hit["groups"][1])
    assert alive(grandchild)
    if end == "exit":
        terminal.write(b"\r")
        until(lambda: terminal.progress()["exited"])
        assert terminal.stop()["code"] == 0
    stopped = terminal.stop(0)
    assert not alive(grandchild) and stopped["killed"] >= 1 and stopped["left"] == []


def test_nothing_is_left_when_the_process_that_holds_the_terminal_is_killed() -> None:
    holder = subprocess.Popen(
        [
            sys.executable,
            "-c",
            "import json, sys; from perfq import _core; o = json.loads(sys.stdin.readline())\n"
            "t = _core.Terminal.start(o); hit = t.wait_screen(r'grandchild (\\d+)', 10)\n"
            "print(t.pid, t.supervisor_pid, hit['groups'][1], flush=True); sys.stdin.read()",
        ],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert holder.stdin and holder.stdout
    holder.stdin.write(json.dumps(options(GRANDCHILD + "time.sleep(3600)")) + "\n")
    holder.stdin.flush()
    pids = [int(pid) for pid in holder.stdout.readline().split()]
    assert len(pids) == 3 and all(alive(pid) for pid in pids)
    holder.kill()
    holder.wait()
    until(lambda: not any(alive(pid) for pid in pids))


def test_a_recording_that_cannot_be_written_is_trouble_up_to_its_last_line(tmp_path: Path) -> None:
    holder = (
        "import json, resource, sys; from perfq import _core\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))\n"
        "t = _core.Terminal.start(json.loads(sys.stdin.readline()))\n"
        "t.wait_screen('end', 10); t.stop(10); print(t.progress()['trouble'])"
    )
    # Less than what is buffered, and then it ends: the file is written when it is closed.
    said = json.dumps(options("print('x' * 8000); print('end')", cast=str(tmp_path / "terminal.cast")))
    done = subprocess.run([sys.executable, "-c", holder], input=said, capture_output=True, text=True, check=True)
    assert "terminal.cast cannot be written" in done.stdout


def test_a_flood_of_100_mb_takes_bounded_memory_and_others_are_served(start: Any, tmp_path: Path) -> None:
    flood = """
import os
for _ in range(1600):
    os.write(1, bytes(range(32, 126)) * 700)
os.write(1, b"\\x1b[2J\\x1b[Hdone")
input()
"""
    peak = _peak_rss()
    terminal = start(flood, cast=tmp_path / "terminal.cast")
    looks = 0
    deadline = time.monotonic() + 60
    while not terminal.wait_screen("done", 0.05):
        looks += bool(terminal.screen()["lines"])
        assert time.monotonic() < deadline
    assert terminal.progress()["bytes"] > 100_000_000
    assert looks > 0
    assert _peak_rss() - peak < 64 << 20
    terminal.stop(0)
    cast = tmp_path / "terminal.cast"
    with cast.open() as recording:
        assert json.loads(recording.readline())["version"] == 2
    cast.unlink()  # large


def _peak_rss() -> int:
    status = Path("/proc/self/status").read_text()
    return int(status.partition("VmHWM:")[2].split()[0]) * 1024
