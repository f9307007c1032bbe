"""`perfq view`: the embedded server by default, a kubeconfig's cluster where one is named."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.contract.deadline import wait_for
from tests.contract.viewer_rig import SUPERVISOR, TOP

from perfq import _core

pytestmark = pytest.mark.contract


def environment(folder: Path) -> dict[str, str]:
    return {
        "PATH": os.environ["PATH"],
        "HOME": str(folder),
        "TERM": "xterm-256color",
        "LANG": "C.UTF-8",
        "PYTHONPATH": str(TOP / "python"),
    }


def view(folder: Path, *arguments: str) -> _core.Terminal:
    return _core.Terminal.start(
        {
            "argv": [sys.executable, "-m", "perfq", "view", *arguments],
            "env": environment(folder),
            "cwd": str(folder),
            "cols": 120,
            "rows": 30,
            "supervisor": [sys.executable, "-I", "-S", SUPERVISOR],
        }
    )


def ended(terminal: _core.Terminal) -> _core.ClientExit:
    """How the command ended by itself."""
    assert wait_for(lambda: terminal.progress()["exited"] is not None), screen(terminal)
    found = terminal.progress()["exited"]
    assert found is not None
    return found


def screen(terminal: _core.Terminal) -> str:
    return "\n".join(terminal.screen()["lines"] + terminal.screen()["other"])


def test_without_a_cluster_it_shows_the_embedded_server_and_q_leaves_nothing(tmp_path: Path) -> None:
    with view(tmp_path, "steady-24eps-1k", "-n", "bench-0007", "--split", "nodes") as terminal:
        assert terminal.wait_screen(r"Pods 50  in bench-0007", 60) is not None, screen(terminal)
        assert terminal.wait_screen(r"Nodes 5 ", 60) is not None, screen(terminal)
        # The plan's events come: rows change while one looks.
        assert terminal.wait_screen(r"Pending +[1-9]", 60) is not None, screen(terminal)
        terminal.write(terminal.key("q"))
        assert ended(terminal)["code"] == 0
        stopped = terminal.stop()
    assert (stopped["killed"], stopped["left"]) == (0, [])


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--kubeconfig", "none"), r"none: there is no such kubeconfig"),
        (("smoke-1k", "--context", "c"), r"smoke-1k: a profile is for the embedded server"),
        (("-A", "-n", "a"), r"-A and -n exclude each other"),
        (("smoke-2k",), r"smoke-2k"),
    ],
)
def test_what_is_wrong_is_said_in_one_line_before_anything_starts(
    tmp_path: Path, arguments: tuple[str, ...], words: str
) -> None:
    with view(tmp_path, *arguments) as terminal:
        assert terminal.wait_screen(rf"^perfq: .*{words}", 60) is not None, screen(terminal)
        assert ended(terminal)["code"] == 2
        assert "Traceback" not in screen(terminal)


def test_it_needs_a_terminal_and_says_so(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "perfq.viewer"],
        env=environment(tmp_path),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 2
    assert done.stderr == "perfq: the viewer needs a terminal on its standard input and standard error\n"
