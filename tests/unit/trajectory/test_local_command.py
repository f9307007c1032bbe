"""Commands of this machine, and hostile ones: each ends in its time, and what it left ends with it."""

from __future__ import annotations

import asyncio
import hashlib
import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from perfq.trajectory.local import command as local_command
from perfq.trajectory.local.command import Bounds, Ended, LocalCommands
from perfq.trajectory.local.processes import Owner, belonging
from perfq.trajectory.local.start import Order
from perfq.trajectory.process import row

SECOND = 1_000_000_000
#: More than any command here needs, on a machine that does other things as well.
AMPLE = Bounds(timeout_ns=60 * SECOND, term_grace_ns=SECOND // 10, clean_timeout_ns=30 * SECOND)
SHORT = Bounds(timeout_ns=SECOND // 2, term_grace_ns=SECOND // 10, clean_timeout_ns=30 * SECOND)

Run = Callable[..., Ended]


@pytest.fixture
def marker(tmp_path: Path) -> str:
    return f"PERFQ_COMMAND={tmp_path.name}-{os.getpid()}"


@pytest.fixture
def run(tmp_path: Path, marker: str) -> Run:
    def run_one(*argv: str, bounds: Bounds = AMPLE) -> Ended:
        async def go() -> Ended:
            with LocalCommands() as commands:
                return await commands.run(order(argv, tmp_path, marker), bounds)

        return asyncio.run(go())

    return run_one


def order(argv: tuple[str, ...], cwd: Path, marker: str) -> Order:
    name, _, value = marker.partition("=")
    return Order(argv, cwd, {"PATH": os.environ["PATH"], name: value}, marker)


def python(script: str) -> tuple[str, ...]:
    return sys.executable, "-I", "-S", "-c", script


def test_a_command_that_ends_by_itself_is_done_with_its_exit_code_and_its_output(run: Run) -> None:
    ended = run("sh", "-c", "echo out; echo err >&2; exit 3")
    assert (ended.outcome, ended.exit_code, ended.signal) == ("done", 3, None)
    assert ended.output is not None
    assert ended.output.kept == b"out\nerr\n"
    assert ended.output.sha256 == hashlib.sha256(b"out\nerr\n").hexdigest()


def test_its_stamps_are_in_their_order(run: Run) -> None:
    ended = run("true")
    assert ended.started_ns is not None
    assert ended.ended_ns is not None
    assert ended.issued_ns <= ended.started_ns <= ended.ended_ns <= ended.returned_ns


def test_one_that_dies_by_a_signal_is_done_with_the_signal_and_no_exit_code(run: Run) -> None:
    ended = run("sh", "-c", "kill -SEGV $$")
    assert (ended.outcome, ended.exit_code, ended.signal) == ("done", None, signal.SIGSEGV)


def test_a_missing_executable_failed_to_start_and_says_which(run: Run) -> None:
    ended = run("/nowhere/a-shell", "-c", "true")
    assert (ended.outcome, ended.started_ns, ended.output) == ("failed_to_start", None, None)
    assert ended.why is not None
    assert "/nowhere/a-shell" in ended.why


def test_standard_input_is_at_its_end_and_not_the_harness_s_own(run: Run) -> None:
    kept = os.dup(0)
    ours, theirs = os.pipe()
    os.write(theirs, b"ours")
    os.close(theirs)
    os.dup2(ours, 0)
    try:
        ended = run("sh", "-c", "cat; echo read")
    finally:
        os.dup2(kept, 0)
        os.close(kept)
        os.close(ours)
    assert ended.output is not None
    assert (ended.outcome, ended.output.kept) == ("done", b"read\n")


def test_a_gigabyte_of_output_is_counted_and_hashed_in_full_and_kept_to_its_limit(run: Run) -> None:
    ended = run("head", "-c", str(1 << 30), "/dev/zero")
    assert ended.output is not None
    assert (ended.outcome, ended.output.size, len(ended.output.kept)) == ("done", 1 << 30, 65_536)
    expected = hashlib.sha256()
    for _ in range(1024):
        expected.update(bytes(1 << 20))
    assert ended.output.sha256 == expected.hexdigest()


def test_one_that_ignores_sigterm_is_killed_and_the_timeout_is_a_clean_one(run: Run, marker: str) -> None:
    ended = run("sh", "-c", "trap '' TERM; while :; do sleep 0.05; done", bounds=SHORT)
    assert (ended.outcome, ended.signal, ended.left) == ("timed_out_cleaned", signal.SIGKILL, ())
    assert not belonging(Owner(marker))


def test_one_that_heeds_sigterm_may_say_so_with_its_exit_code(run: Run) -> None:
    patient = Bounds(SECOND // 2, 30 * SECOND, 30 * SECOND)
    ended = run("sh", "-c", "trap 'echo bye; exit 7' TERM; while :; do sleep 0.05; done", bounds=patient)
    assert ended.output is not None
    assert (ended.outcome, ended.exit_code) == ("timed_out_cleaned", 7)
    assert ended.output.kept.endswith(b"bye\n")


def test_what_left_the_session_and_its_parent_is_found_by_the_marker_and_ended(run: Run, tmp_path: Path) -> None:
    script = (
        "import os, signal, time\n"
        "if os.fork() == 0:\n"
        "    os.setsid()\n"
        "    if os.fork(): os._exit(0)\n"
        "    signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
        "    open('grandchild', 'w').write(str(os.getpid()))\n"
        "    os.closerange(0, 3)\n"
        "time.sleep(600)\n"
    )
    ended = run(*python(script), bounds=Bounds(2 * SECOND, SECOND // 10, 30 * SECOND))
    assert ended.outcome == "timed_out_cleaned"
    grandchild = row(int((tmp_path / "grandchild").read_text()))
    assert grandchild is None or grandchild.gone


def test_one_that_changes_its_group_is_ended_all_the_same(run: Run, marker: str) -> None:
    script = "import os, time\nif os.fork() == 0:\n    os.setpgid(0, 0)\ntime.sleep(600)\n"
    assert run(*python(script), bounds=SHORT).outcome == "timed_out_cleaned"
    assert not belonging(Owner(marker))


def test_a_child_that_clears_its_environment_is_found_in_the_session_of_the_command(run: Run) -> None:
    ended = run("sh", "-c", "env -i sleep 600 & wait", bounds=SHORT)
    assert (ended.outcome, ended.left) == ("timed_out_cleaned", ())


def test_the_end_of_output_is_not_the_end_of_the_process(run: Run) -> None:
    ended = run("sh", "-c", "exec >&- 2>&-; sleep 0.2; exit 5")
    assert (ended.outcome, ended.exit_code) == ("done", 5)


def test_the_end_of_the_process_is_not_the_end_of_output(run: Run, tmp_path: Path, marker: str) -> None:
    async def go() -> tuple[Ended, tuple[object, ...], set[object]]:
        with LocalCommands() as commands:
            ended = await commands.run(order(("sh", "-c", "sleep 600 & echo up"), tmp_path, marker), AMPLE)
            held = belonging(Owner(marker))
            return ended, await commands.end(Owner(marker), AMPLE), set(held)

    ended, left, held = asyncio.run(go())
    assert ended.output is not None
    assert (ended.outcome, ended.output.kept, ended.output.ended) == ("done", b"up\n", False)
    assert len(held) == 1
    assert left == ()


def test_a_cancelled_command_is_ended_before_the_cancellation_goes_on(tmp_path: Path, marker: str) -> None:
    async def go() -> None:
        with LocalCommands() as commands:
            task = asyncio.create_task(commands.run(order(("sleep", "600"), tmp_path, marker), AMPLE))
            while not belonging(Owner(marker)):
                await asyncio.sleep(0)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task

    asyncio.run(go())
    assert not belonging(Owner(marker))


def test_the_scheduler_runs_on_while_a_command_prints(tmp_path: Path, marker: str) -> None:
    async def go() -> int:
        with LocalCommands() as commands:
            argv = ("head", "-c", str(1 << 28), "/dev/zero")
            task = asyncio.create_task(commands.run(order(argv, tmp_path, marker), AMPLE))
            turns = 0
            while not task.done():
                turns += 1
                await asyncio.sleep(0.001)
            return turns

    assert asyncio.run(go()) > 5


def test_a_cancellation_in_the_moment_of_the_end_is_not_lost(
    tmp_path: Path, marker: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    tasks: list[asyncio.Task[Ended]] = []
    seen = local_command._Child._seen

    def seen_and_cancelled(child: local_command._Child) -> None:
        seen(child)
        tasks[0].cancel()

    monkeypatch.setattr(local_command._Child, "_seen", seen_and_cancelled)

    async def go() -> None:
        with LocalCommands() as commands:
            tasks.append(asyncio.create_task(commands.run(order(("true",), tmp_path, marker), AMPLE)))
            with pytest.raises(asyncio.CancelledError):
                await tasks[0]

    asyncio.run(go())
