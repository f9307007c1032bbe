"""The first signal asks for an orderly end, the second leaves at once. In processes of their own."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading

import pytest

from perfq.drive.signals import Interruption, interruption

_HEAD = """
import os, signal, sys, time
from perfq.drive.signals import interruption
def me(number): os.kill(os.getpid(), number)
def leave(): print("to clean up: nothing", flush=True); return 6
"""


def run(body: str) -> tuple[int, str]:
    """The exit code and the output of a script that begins with _HEAD; TimeoutExpired where it hangs."""
    ended = subprocess.run(
        [sys.executable, "-c", _HEAD + body], capture_output=True, text=True, timeout=60, check=False
    )
    assert ended.stderr == ""
    return ended.returncode, ended.stdout


@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM"])
def test_the_first_signal_is_noted_by_name_and_the_block_goes_on(name: str) -> None:
    body = f"""
with interruption(leave) as state:
    print(state.requested, state.signal)
    me(signal.{name})
    print(state.wait(1000), state.requested, state.signal)
"""
    assert run(body) == (0, f"False None\nTrue True {name}\n")


def test_the_second_signal_leaves_with_the_code_of_what_is_left_and_says_what_is_left_without_unwinding() -> None:
    body = """
with interruption(leave) as state:
    try:
        me(signal.SIGTERM)
        me(signal.SIGINT)
        print("still here")
    finally:
        print("unwound")
"""
    assert run(body) == (6, "to clean up: nothing\n")


def test_a_wait_ends_when_a_signal_comes_from_outside() -> None:
    body = """
with interruption(leave) as state:
    print("waiting", flush=True)
    state.wait(1000)
    print(state.signal)
"""
    with subprocess.Popen([sys.executable, "-c", _HEAD + body], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "waiting\n"
        process.send_signal(signal.SIGTERM)
        out, _ = process.communicate(timeout=60)
    assert (process.returncode, out) == (0, "SIGTERM\n")


def test_a_signal_at_any_step_of_a_wait_is_noted() -> None:
    """A handler runs between any two steps of the thread that waits: it may need no lock which that holds."""
    body = """
signal.signal(signal.SIGALRM, lambda *_: me(signal.SIGINT))
for i in range(2000):
    with interruption(leave) as state:
        signal.setitimer(signal.ITIMER_REAL, 0.0003 + (i % 97) * 1e-6)
        while not state.requested:
            state.wait(1e-7)
print("all noted")
"""
    assert run(body) == (0, "all noted\n")


def test_the_former_handlers_are_back_after_the_block() -> None:
    before = [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)]
    with interruption():
        assert [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)] != before
    assert [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)] == before


def test_outside_the_main_thread_no_handler_is_touched() -> None:
    seen: list[Interruption] = []

    def elsewhere() -> None:
        with interruption() as state:
            seen.append(state)

    thread = threading.Thread(target=elsewhere)
    thread.start()
    thread.join(20)
    assert [state.requested for state in seen] == [False]


def test_the_first_signal_counts() -> None:
    state = Interruption()
    assert not state.wait(0)
    state.set("SIGTERM")
    state.set("SIGINT")
    assert (state.signal, state.wait(1000)) == ("SIGTERM", True)


def test_a_run_that_takes_longer_than_it_may_is_asked_to_end_with_the_limit() -> None:
    state = Interruption()
    state.limit(None)
    assert not state.requested
    state.limit(0.0)
    assert state.wait(10)
    assert (state.signal, state.figure) == ("max-time", "limit 0 s")


def test_a_signal_before_the_limit_is_the_reason_that_counts() -> None:
    state = Interruption()
    state.set("SIGTERM")
    state.limit(0.0)
    assert state.requested
    assert (state.signal, state.figure) == ("SIGTERM", "asked to end")
