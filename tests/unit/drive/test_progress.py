"""Progress: a redrawn line on a terminal, a plain one every ten seconds elsewhere, nothing when quiet."""

from __future__ import annotations

import io
import os
import pty
import termios

import pytest

from perfq.drive.progress import PLAIN_EVERY_S, REDRAW_EVERY_S, Progress


class Pipe(io.StringIO):
    """Not a terminal."""


class Screen(io.StringIO):
    """A terminal of 20 columns."""

    def __init__(self, descriptor: int) -> None:
        super().__init__()
        self._descriptor = descriptor

    def isatty(self) -> bool:
        return True

    def fileno(self) -> int:
        return self._descriptor


@pytest.fixture
def screen() -> object:
    ours, theirs = pty.openpty()
    termios.tcsetwinsize(theirs, (5, 20))
    yield Screen(theirs)
    os.close(ours)
    os.close(theirs)


def test_a_pipe_gets_one_plain_line_every_ten_seconds() -> None:
    pipe = Pipe()
    progress = Progress(stream=pipe)
    for now in (0.0, 0.1, PLAIN_EVERY_S - 0.1, PLAIN_EVERY_S, PLAIN_EVERY_S + 5, 2 * PLAIN_EVERY_S):
        progress.update(f"at {now:g}", now)
    progress.close()
    assert pipe.getvalue() == "at 0\nat 10\nat 20\n"


def test_the_first_line_comes_at_once_however_young_the_clock_is() -> None:
    pipe = Pipe()
    Progress(stream=pipe).update("first", 3.0)
    assert pipe.getvalue() == "first\n"


def test_a_phase_is_said_at_once_whatever_was_said_before() -> None:
    pipe = Pipe()
    progress = Progress(stream=pipe)
    progress.update("waiting", 0.0)
    progress.say("churn")
    assert pipe.getvalue() == "waiting\nchurn\n"


def test_quiet_writes_nothing() -> None:
    pipe = Pipe()
    progress = Progress(quiet=True, stream=pipe)
    progress.say("a phase")
    progress.update("waiting", 100.0)
    progress.close()
    assert pipe.getvalue() == ""


def test_a_terminal_has_its_line_redrawn_and_erased_at_the_end(screen: Screen) -> None:
    progress = Progress(stream=screen)
    for now in (0.0, REDRAW_EVERY_S / 2, REDRAW_EVERY_S):
        progress.update(f"at {now:g}", now)
    progress.close()
    progress.close()
    assert screen.getvalue() == "\r\x1b[2Kat 0\r\x1b[2Kat 0.2\r\x1b[2K"


def test_a_phase_replaces_the_line_that_is_drawn(screen: Screen) -> None:
    progress = Progress(stream=screen)
    progress.update("waiting", 0.0)
    progress.say("churn")
    assert screen.getvalue() == "\r\x1b[2Kwaiting\r\x1b[2Kchurn\n"


def test_a_line_that_would_wrap_is_cut_since_it_could_not_be_erased(screen: Screen) -> None:
    Progress(stream=screen).update("x" * 30, 0.0)
    assert screen.getvalue() == "\r\x1b[2K" + "x" * 19


def test_an_update_is_due_when_it_would_be_written() -> None:
    progress = Progress(stream=Pipe())
    assert progress.due
    progress.update("first")
    assert not progress.due
    assert not Progress(quiet=True, stream=Pipe()).due
