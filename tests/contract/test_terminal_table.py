"""Real programs that draw tables: their rows, their cursor, keys and cells, changes of size."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.contract.deadline import wait_for
from tests.contract.terminals import options

from perfq import _core

pytestmark = pytest.mark.contract

#: A small client: draws a table, moves its cursor, changes restarts on request, redraws on SIGWINCH.
#: MODE decides what is wrong with it.
CLIENT = r"""
import os, random, select, signal, sys, termios, tty
MODE = "%s"
tty.setraw(0)
rows = [["bench-%%04d" %% (n %% 3), "pod-%%06d" %% n, "1/1", "Running", 0, "node-00", "5m"] for n in range(15)]
at = 3
widths = (12, 12, 7, 9, 10, 9, 4)

def out(text):
    os.write(1, text.encode())

def line(cells):
    return "".join(str(cell).ljust(width) for cell, width in zip(cells, widths))

def draw(n):
    text = line(rows[n])
    out("\x1b[%%d;1H%%s%%s\x1b[0m" %% (n + 3, "\x1b[7m" if n == at else "", text))

def draw_all():
    out("\x1b[2J\x1b[2;1H" + line("NAMESPACE NAME READY STATUS RESTARTS NODE AGE".split()))
    for n in range(len(rows)):
        draw(n)
    size = os.get_terminal_size()
    out("\x1b[%%d;1H%%s" %% (size.lines, "=" * (size.columns - 1)))

signal.signal(signal.SIGWINCH, lambda *_: None if MODE == "deaf" else draw_all())
wake, told = os.pipe()
os.set_blocking(told, False)
signal.set_wakeup_fd(told)
draw_all()
while True:
    ready = select.select([0, wake], [], [])[0]
    if wake in ready:
        os.read(wake, 100)
        continue
    keys = os.read(0, 100)
    if MODE == "ignores":
        continue
    if MODE == "exits" and keys != b"s":
        sys.exit(9)
    if MODE == "trades":
        # The selection stays on its row of the screen while two objects trade places.
        rows[at], rows[at + 2] = rows[at + 2], rows[at]
        draw(at)
        draw(at + 2)
        continue
    if keys == b"\x1b[B":
        at += 1
        draw(at - 1)
        draw(at)
    elif keys == b"\x1b[A":
        at -= 1
        draw(at + 1)
        draw(at)
    elif keys == b"r":
        for number in (999, 1000001):
            rows[5][4] = number
            # Digit by digit, each in a write of its own.
            for place, digit in enumerate(str(number)):
                out("\x1b[%%d;%%dH%%s" %% (5 + 3, 41 + place, digit))
    elif keys == b"q":
        break
"""

VIEW = {"name": "NAME", "namespace": "NAMESPACE", "required": ["RESTARTS"], "cursor": "reverse"}


@pytest.fixture
def start() -> Iterator[Callable[..., _core.Terminal]]:
    started: list[_core.Terminal] = []

    def run(mode: str = "sound", **more: Any) -> _core.Terminal:
        started.append(_core.Terminal.start(options(CLIENT % mode, **more)))
        assert started[-1].wait_screen("pod-000014(?s:.*)==", 20)
        return started[-1]

    yield run
    for terminal in started:
        terminal.stop(0)


def test_rows_are_objects_with_their_cells_and_one_has_the_cursor(start: Any) -> None:
    terminal = start()
    view = _core.TerminalView(VIEW)
    rows = terminal.rows(view)
    assert [row["key"] for row in rows] == [(f"bench-{n % 3:04}", f"pod-{n:06}") for n in range(15)]
    assert rows[0]["cells"] == {
        "NAMESPACE": "bench-0000",
        "NAME": "pod-000000",
        "READY": "1/1",
        "STATUS": "Running",
        "RESTARTS": "0",
        "NODE": "node-00",
        "AGE": "5m",
    }
    cursor = terminal.cursor_row(view)
    assert cursor is not None and (cursor["row"], cursor["key"][1]) == (5, "pod-000003")


def test_a_key_is_seen_in_the_chunk_that_shows_the_cursor_on_its_new_row(start: Any) -> None:
    terminal = start()
    view = _core.TerminalView(VIEW)
    for _ in range(20):
        down = terminal.press(terminal.key("down"), "down", view, 5)
        up = terminal.press(terminal.key("up"), "up", view, 5)
        assert (down["outcome"], down["before"], down["after"]) == (
            "ok",
            ("bench-0000", "pod-000003"),
            ("bench-0001", "pod-000004"),
        )
        assert (up["outcome"], up["after"]) == ("ok", down["before"])
        assert down["sent"] < down["seen"] < up["sent"] < up["seen"] < time.monotonic_ns()


def test_a_client_that_ignores_keys_gives_censored_samples(start: Any) -> None:
    terminal = start("ignores")
    pressed = terminal.press(terminal.key("down"), "down", _core.TerminalView(VIEW), 0.3)
    assert (pressed["outcome"], pressed["seen"], pressed["after"]) == ("censored", None, None)
    assert pressed["sent"] is not None and pressed["before"] == ("bench-0000", "pod-000003")


def test_a_selection_that_another_object_slid_under_is_a_drift(start: Any) -> None:
    pressed = start("trades").press(b"\x1b[B", "down", _core.TerminalView(VIEW), 5)
    assert (pressed["outcome"], pressed["after"]) == ("drifted", ("bench-0002", "pod-000005"))


def test_a_client_that_exits_on_a_key_is_a_failed_sample(start: Any) -> None:
    terminal = start("exits")
    view = _core.TerminalView(VIEW)
    assert terminal.press(b"\x1b[B", "down", view, 30)["outcome"] == "failed"
    assert terminal.progress()["exited"]["code"] == 9
    again = terminal.press(b"\x1b[B", "down", view, 30)
    assert (again["outcome"], again["sent"]) == ("failed", None)


def test_a_client_that_does_not_read_is_told_apart_from_a_slow_one(start: Any) -> None:
    deaf = _core.Terminal.start(options("import time, tty; tty.setraw(0); print('up', flush=True); time.sleep(3600)"))
    with deaf:
        assert deaf.wait_screen("up", 20)
        with pytest.raises(TimeoutError, match="does not read"):
            for _ in range(64):
                deaf.write(b"x" * 4096)


def test_a_probe_is_seen_when_its_number_is_the_whole_cell(start: Any, tmp_path: Path) -> None:
    recorder = _core.Recorder(tmp_path / "samples.ndjson")
    terminal = start(recorder=recorder)
    view = _core.TerminalView(VIEW)
    terminal.expect_cell(7, ("bench-0002", "pod-000005"), "RESTARTS", "1000001", view)
    terminal.expect_cell(8, ("bench-0000", "pod-000006"), "RESTARTS", "1000001", view)
    sent = terminal.write(b"r")
    seen: list[_core.SeenCell] = []

    def fetch() -> bool:
        seen.extend(terminal.seen_cells())
        return bool(seen)

    assert wait_for(fetch)
    assert [cell["i"] for cell in seen] == [7] and seen[0]["t"] > sent
    assert terminal.forget_cell(8) and not terminal.forget_cell(7)
    terminal.stop(0)
    recorder.close()
    records = [json.loads(text) for text in (tmp_path / "samples.ndjson").read_text().splitlines()]
    assert [record for record in records if record["k"] == "cell"] == [{"k": "cell", "t": seen[0]["t"], "i": 7}]


def test_milestones_are_recorded_once_with_the_rows_that_were_there(tmp_path: Path, start: Any) -> None:
    recorder = _core.Recorder(tmp_path / "samples.ndjson")
    milestones = [{"name": "ready", "pattern": "NAMESPACE"}, {"name": "populated", "rows": 15}]
    terminal = start(recorder=recorder, view=_core.TerminalView(VIEW), milestones=milestones)
    at = terminal.progress()["milestones"]
    assert at["ready"] <= at["populated"]
    terminal.stop(0)
    recorder.close()
    records = [json.loads(text) for text in (tmp_path / "samples.ndjson").read_text().splitlines()]
    screens = {record["ev"]: record for record in records if record["k"] == "screen"}
    assert len([record for record in records if record["k"] == "screen"]) == 2
    assert (screens["populated"]["rows"], screens["populated"]["t"]) == (15, at["populated"])


def test_a_change_of_size_is_filled_by_a_client_that_hears_of_it(start: Any) -> None:
    terminal = start()
    resized = terminal.resize(100, 30, 10)
    assert resized["sent"] < resized["first"] <= resized["filled"]
    hit = terminal.wait_screen("={99}$", 10)
    assert hit and hit["row"] == 29 and len(terminal.screen()["lines"]) == 30


def test_a_client_that_is_deaf_to_a_change_of_size_is_a_failed_sample(start: Any) -> None:
    resized = start("deaf").resize(100, 30, 0.3)
    assert resized["filled"] is None


def test_queries_are_answered_ahead_of_keys(start: Any) -> None:
    program = r"""
import os, sys, tty
tty.setraw(0)
os.write(1, b"ready")
while os.read(0, 1) != b"g":
    pass
os.write(1, b"\x1b[c\x1b[?2048$p")
got = b""
while not got.endswith(b"k"):
    got += os.read(0, 100)
os.write(1, b"\r\n" + repr(got).encode())
os.read(0, 1)
"""
    with _core.Terminal.start(options(program)) as terminal:
        assert terminal.wait_screen("ready", 20)
        terminal.write(b"g")
        assert wait_for(lambda: terminal.progress()["chunks"] >= 2)
        terminal.write(b"k")
        hit = terminal.wait_screen(r"b'(.*)'", 10)
        assert hit and hit["groups"][1] == r"\x1b[?6c\x1b[?2048;0$yk"
        assert terminal.progress()["unanswered"] == []


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"cursor": "blinking"}, "blinking"),
        ({"row": "("}, "row"),
        ({"colour": 1}, "colour"),
        ({"cursor": "marker"}, "marker"),
    ],
)
def test_a_wrong_view_says_what_is_wrong(change: dict[str, Any], text: str) -> None:
    with pytest.raises(ValueError, match=text):
        _core.TerminalView({**VIEW, **change})
