"""What a client leaves behind is named, with what removes it; what has ended meanwhile is not left."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from perfq.drive.environment import ClientHome
from perfq.drive.leftovers import Leftover, processes_at_home, processes_left
from perfq.replay.command import clean_up


@pytest.fixture
def home() -> Iterator[ClientHome]:
    made = ClientHome.create()
    yield made
    made.remove()


@pytest.fixture
def process(home: ClientHome) -> Iterator[subprocess.Popen[bytes]]:
    """A process of the client, past its exec: its environment is the home's."""
    program = "print(flush=True); import sys; sys.stdin.read()"
    command, pipe = [sys.executable, "-c", program], subprocess.PIPE
    with subprocess.Popen(command, env=home.environment({}), stdin=pipe, stdout=pipe) as started:
        assert started.stdout is not None
        started.stdout.readline()
        yield started
        started.kill()


def test_a_process_is_found_by_its_home_whoever_its_parent_is(
    home: ClientHome, process: subprocess.Popen[bytes]
) -> None:
    assert processes_at_home(home) == [process.pid]
    other = ClientHome.create()
    assert processes_at_home(other) == []
    other.remove()


def test_a_process_that_still_runs_is_left_and_one_that_ended_is_not(process: subprocess.Popen[bytes]) -> None:
    (left,) = processes_left([process.pid, process.pid])
    assert left.name.startswith(f"process {process.pid} (python")
    assert left.remove == f"kill -KILL {process.pid}"
    process.kill()
    with Path(f"/proc/{process.pid}/stat").open() as stat:
        while stat.read().rpartition(")")[2].split()[0] != "Z":
            stat.seek(0)
    assert processes_left([process.pid]) == []  # dead, and nobody has waited for it yet
    process.wait()
    assert processes_left([process.pid]) == []


def test_after_clean_up_the_home_is_gone_and_processes_are_named(
    home: ClientHome, process: subprocess.Popen[bytes]
) -> None:
    assert [one.remove for one in clean_up(home, [process.pid])] == [f"kill -KILL {process.pid}"]
    assert not home.path.exists()
    assert clean_up(home, []) == list[Leftover]()
