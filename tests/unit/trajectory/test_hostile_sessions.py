"""Bad luck of whole runs: hostile commands, full disks, time-outs at every phase; and that nothing is left."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.unit.trajectory.plans import command, plan, wait
from tests.unit.trajectory.runs import Runs

from perfq.trajectory.cgroup.freezer import FreezeFailed, Freezer
from perfq.trajectory.cgroup.places import Hierarchy
from perfq.trajectory.cgroup.run_group import RunGroup, make
from perfq.trajectory.local.command import Bounds, LocalCommands
from perfq.trajectory.local.processes import Owner
from perfq.trajectory.local.start import Order

MS = 1_000_000
Need = Callable[[bool, str], None]
#: What a hostile command is held to, and what a machine that is busy with other things needs to end it.
SHORT = {"timeout_ms": 500, "term_grace_ms": 100, "clean_timeout_ms": 30_000}

#: script → how it ends: outcome, exit code, signal.
HOSTILE: dict[str, tuple[str, str, int | None, int | None]] = {
    "ignores SIGTERM": ("trap '' TERM; while :; do sleep 0.05; done", "timed_out_cleaned", None, 9),
    "forks away": ("setsid sh -c 'trap \"\" TERM; sleep 600' & sleep 600", "timed_out_cleaned", None, None),
    "forks away and ends": ("setsid env -i sleep 600 >/dev/null 2>&1 &", "done", 0, None),
    "changes its group": ("set -m; sleep 600 & sleep 600", "timed_out_cleaned", None, None),
    "reads stdin": ("cat; exit 4", "done", 4, None),
    "dies by a signal": ("kill -ABRT $$", "done", None, 6),
    "closes its output and lives": ("exec >&- 2>&-; sleep 600", "timed_out_cleaned", None, None),
    "forks until its end": ("while :; do sleep 0.01 & wait; done", "timed_out_cleaned", None, None),
}


def test_hostile_commands_end_in_their_time_side_by_side_and_nothing_of_them_is_left(grouped: Runs) -> None:
    steps = [[command(script)] for script, *_ in HOSTILE.values()]
    played = grouped.play(plan(*steps, command=SHORT))
    ended = {line["n"]: line for line in grouped.of("tj_command")}
    for n, (name, (_, outcome, code, number)) in enumerate(HOSTILE.items()):
        assert ended[n]["outcome"] == outcome, (name, ended[n])
        if number is not None or code is not None:
            assert (ended[n]["exit_code"], ended[n]["signal"]) == (code, number), name
    assert [lived.fate for lived in played.outcome.sessions] == ["completed"] * len(HOSTILE)
    assert (grouped.audits("fail"), grouped.audits("unknown"), played.left) == ([], [], [])
    assert grouped.left() == []


def test_a_gigabyte_of_output_of_one_session_leaves_the_others_and_the_record_as_they_are(grouped: Runs) -> None:
    quiet = [command("true"), wait(50), command("true", "d")]
    grouped.play(plan([command("head -c 1073741824 /dev/zero")], quiet, command={"timeout_ms": 60_000}))
    loud = next(line for line in grouped.of("tj_command") if line["n"] == 0)
    assert (loud["outcome"], loud["output_bytes"]) == ("done", 1 << 30)
    assert [lived["outcome"] for lived in grouped.of("tj_session")] == ["completed"] * 2


@pytest.fixture
def small_disk(grouped: Runs, need: Need, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """One MiB, on which are the workspaces and the journal."""
    need(os.geteuid() == 0, "only root may mount")
    disk = grouped.top / "disk"
    disk.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "none", str(disk)], check=False)
    need(mounted.returncode == 0, "mounting is not allowed here")
    try:
        monkeypatch.setattr("tempfile.tempdir", str(disk))
        yield disk
        assert list(disk.glob("*/*")) == []
    finally:
        subprocess.run(["umount", str(disk)], check=False)


@pytest.mark.usefixtures("small_disk")
def test_a_command_that_fills_the_disk_of_its_workspace_fails_alone_and_its_session_is_removed(grouped: Runs) -> None:
    fill = "head -c 2000000 /dev/zero > f"
    after = [command(fill), command("echo x > g", "d"), command("rm f; echo x > g", "e")]
    played = grouped.play(plan(after, [wait(50), command("true")]))
    assert [line["exit_code"] for line in grouped.of("tj_command") if line["n"] == 0] == [1, 1, 0]
    assert [lived.fate for lived in played.outcome.sessions] == ["completed"] * 2
    assert (grouped.audits("fail"), played.left) == ([], [])


@pytest.mark.usefixtures("small_disk")
def test_a_session_that_cannot_be_started_on_a_full_disk_says_so_and_the_next_one_can(grouped: Runs) -> None:
    fill = command("head -c 2000000 /dev/zero > f; sleep 0.5; rm f")
    played = grouped.play(plan([fill], [command("true")], [command("true")], offsets=[0, 300, 1500]))
    first, second, third = played.outcome.sessions
    assert (first.fate, third.fate) == ("completed", "completed")
    assert second.why is None or "No space left on device" in second.why
    assert played.left == []


@pytest.fixture
def frozen_group(need: Need) -> Iterator[RunGroup]:
    made = make(f"test-{os.getpid()}-frozen")
    need(isinstance(made, RunGroup), f"cgroups may not be made: {made}")
    assert isinstance(made, RunGroup)
    with made:
        yield made


def test_a_launcher_that_does_not_get_to_its_command_in_time_is_a_failed_start(frozen_group: RunGroup) -> None:
    session = frozen_group.session(0)
    session.make()

    async def go() -> None:
        with LocalCommands() as commands:
            one = session.only_members("command-0")
            await session.freezer.freeze(10_000 * MS)
            order = Order(["true"], Path("/"), {"PATH": os.environ["PATH"]}, "A=b", one)
            ended = await commands.run(order, Bounds(300 * MS))
            assert (ended.outcome, ended.why) == ("failed_to_start", "it was not started within 300 ms")
            session.freezer.let_go()
            # As the end of the session does.
            assert await commands.end(Owner("A=b", None, session), Bounds(300 * MS)) == ()

    asyncio.run(go())
    assert session.processes() == set()


def test_a_freeze_that_does_not_come_in_time_fails_and_is_taken_back(tmp_path: Path) -> None:
    (tmp_path / "cgroup.freeze").write_text("0")
    (tmp_path / "cgroup.events").write_text("populated 1\nfrozen 0\n")
    with pytest.raises(FreezeFailed, match="was not frozen within 20 ms"):
        asyncio.run(Freezer(Hierarchy(2, tmp_path)).freeze(20 * MS))
    assert (tmp_path / "cgroup.freeze").read_text() == "0"


def test_a_thaw_that_does_not_come_in_time_is_told(tmp_path: Path) -> None:
    (tmp_path / "cgroup.freeze").write_text("1")
    (tmp_path / "cgroup.events").write_text("populated 1\nfrozen 1\n")
    with pytest.raises(FreezeFailed, match="was not thawed within 20 ms"):
        asyncio.run(Freezer(Hierarchy(2, tmp_path)).thaw(20 * MS))


SERVER = """
import os, subprocess, sys
while True:
    with open(sys.argv[1]) as scripts:
        subprocess.Popen(["sh", "-c", scripts.read()], start_new_session=True)
"""


@pytest.fixture
def foreign(tmp_path: Path) -> Iterator[dict[str, Any]]:
    """A runtime whose sandbox is a server that perfq did not start: its children are not perfq's to end."""
    fifo = tmp_path / "scripts"
    os.mkfifo(fifo)
    with subprocess.Popen([sys.executable, "-I", "-S", "-c", SERVER, str(fifo)], start_new_session=True) as server:
        yield {
            "kind": "command",
            "launch_argv": ["sh", "-c", f"echo '{{\"pid\": {server.pid}}}'"],
            "exec_argv": ["sh", "-c", f'printf %s "$1" > {fifo}; sleep 600', "sh", "{script}"],
            "stop_argv": ["sh", "-c", f"pkill -KILL -P {server.pid}; kill -KILL {server.pid}"],
        }
        server.kill()


def test_what_a_timeout_leaves_in_a_sandbox_and_is_not_ours_to_end_is_uncleaned_and_fails_the_session(
    grouped: Runs, foreign: dict[str, Any]
) -> None:
    limits = {"timeout_ms": 500, "term_grace_ms": 100, "clean_timeout_ms": 500}
    played = grouped.play(plan([command("exec sleep 600"), command("true", "d")], backend=foreign, command=limits))
    ended = grouped.of("tj_command")
    assert [line["outcome"] for line in ended] == ["timed_out_uncleaned"]
    assert len(ended[0]["left"]) == 1
    assert played.outcome.sessions[0].why == "step 0: timed_out_uncleaned, it ran for more than 500 ms"


@pytest.mark.parametrize("phase", ["stop_argv", "pause_argv", "resume_argv"])
def test_a_command_of_the_runtime_that_hangs_is_ended_at_the_time_limit_and_named(grouped: Runs, phase: str) -> None:
    backend = {
        "kind": "command",
        "launch_argv": ["sh", "-c", 'sleep 600 >/dev/null 2>&1 & echo $! > pid; echo "{\\"pid\\": $!}"'],
        "exec_argv": ["sh", "-c", "{script}"],
        "stop_argv": ["sh", "-c", "kill $(cat pid)"],
        "pause_argv": ["true"],
        "resume_argv": ["true"],
        phase: ["sleep", "600"],
    }
    limits = {"timeout_ms": 300, "term_grace_ms": 50, "clean_timeout_ms": 500}
    began = time.monotonic()
    played = grouped.play(plan([wait(10)], wait={"mode": "freeze"}, backend=backend, command=limits))
    assert time.monotonic() - began < 60
    lived = played.outcome.sessions[0]
    if phase == "stop_argv":
        evidence = next(line["evidence"] for line in grouped.of("tj_audit") if line["name"] == "processes_gone")
        assert "stop_argv: it ran for more than 300 ms" in evidence
    else:
        assert lived.why == f"step 0: {phase}: it ran for more than 300 ms"
    assert grouped.left() == []
