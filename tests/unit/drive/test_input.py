"""Keys are pressed in pairs, each at its instant, and whatever becomes of a key is recorded."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any, Literal

from tests.unit.drive.waiting import Kept, wait_for

from perfq._core import TerminalView
from perfq.drive.input import InputPlan, InputSampler
from perfq.profile.client import Screen

VIEW = TerminalView(Screen().model_dump())
KEYS = {"down": b"j", "up": b"k"}
HOME, NEXT = ("bench-0000", "pod-000000"), ("bench-0001", "pod-000001")


def moved(before: tuple[str, str], after: tuple[str, str]) -> dict[str, Any]:
    sent = time.monotonic_ns()
    return {"sent": sent, "seen": sent + 1000, "outcome": "ok", "before": before, "after": after}


class Keyboard:
    """A client whose cursor goes down and up again, unless it is told what to answer."""

    def __init__(self, answer: Callable[[str], dict[str, Any]] | None = None) -> None:
        self._answer = answer or (lambda direction: moved(HOME, NEXT) if direction == "down" else moved(NEXT, HOME))
        self.presses: list[tuple[int, bytes, str]] = []

    def press(
        self, key: bytes, direction: Literal["down", "up"], view: TerminalView, timeout_s: float
    ) -> dict[str, Any]:
        self.presses.append((time.monotonic_ns(), key, direction))
        return self._answer(direction)


def sampler(keyboard: Keyboard, kept: Kept, pairs: int = 1, seconds: float = 0.0) -> InputSampler:
    return InputSampler(keyboard, kept, InputPlan(pairs, seconds, KEYS, VIEW))


def all_taken(keyboard: Keyboard, pairs: int = 1, seconds: float = 0.0) -> tuple[Kept, InputSampler]:
    kept = Kept()
    taken = sampler(keyboard, kept, pairs, seconds)
    taken.start(time.monotonic_ns())
    wait_for(lambda: taken.finished)
    return kept, taken


def test_each_pair_is_a_key_down_and_a_key_up_not_before_it_is_due() -> None:
    keyboard, kept = Keyboard(), Kept()
    taken = sampler(keyboard, kept, pairs=5, seconds=0.25)
    t0 = time.monotonic_ns()
    taken.start(t0)
    wait_for(lambda: taken.finished)
    assert [(line["pair"], line["key"]) for line in kept.lines] == [(i, key) for i in range(5) for key in KEYS]
    assert [(key, direction) for _, key, direction in keyboard.presses] == [(b"j", "down"), (b"k", "up")] * 5
    assert all(at >= t0 + pair * 50_000_000 for pair, (at, _, _) in enumerate(keyboard.presses[::2]))
    assert taken.remaining == 0


def test_a_key_is_recorded_from_its_write_to_the_chunk_that_showed_the_cursor() -> None:
    answers = {
        "down": {"sent": 5, "seen": 9, "outcome": "ok", "before": HOME, "after": NEXT},
        "up": {"sent": 10, "seen": 12, "outcome": "ok", "before": NEXT, "after": HOME},
    }
    kept, _ = all_taken(Keyboard(answers.__getitem__))
    assert kept.lines == [
        {"k": "input", "t": 5, "pair": 0, "key": "down", "seen": 9, "outcome": "ok"},
        {"k": "input", "t": 10, "pair": 0, "key": "up", "seen": 12, "outcome": "ok"},
    ]


def test_a_key_without_effect_is_censored_and_nothing_was_seen() -> None:
    kept, taken = all_taken(
        Keyboard(lambda _: {"sent": 5, "seen": None, "outcome": "censored", "before": HOME, "after": HOME})
    )
    assert [(line["outcome"], line["seen"]) for line in kept.lines] == [("censored", None)] * 2
    assert taken.done_pairs == 1


def test_a_selection_that_moved_elsewhere_is_failed() -> None:
    def drift(_: str) -> dict[str, Any]:
        return moved(HOME, ("bench-0007", "pod-000007")) | {"outcome": "drifted"}

    kept, _ = all_taken(Keyboard(drift))
    assert [line["outcome"] for line in kept.lines] == ["failed", "failed"]


def test_a_key_up_that_does_not_lead_back_to_the_row_of_its_pair_is_failed() -> None:
    elsewhere = ("bench-0002", "pod-000002")
    kept, _ = all_taken(Keyboard(lambda key: moved(HOME, NEXT) if key == "down" else moved(NEXT, elsewhere)))
    assert [line["outcome"] for line in kept.lines] == ["ok", "failed"]


def test_a_key_that_could_not_be_written_is_failed_at_the_instant_of_the_attempt() -> None:
    began = time.monotonic_ns()
    kept, _ = all_taken(
        Keyboard(lambda _: {"sent": None, "seen": None, "outcome": "failed", "before": None, "after": None})
    )
    assert [line["outcome"] for line in kept.lines] == ["failed", "failed"]
    assert all(began <= line["t"] <= time.monotonic_ns() for line in kept.lines)


def test_no_key_is_written_between_pause_and_resume() -> None:
    keyboard = Keyboard()
    taken = sampler(keyboard, Kept(), pairs=3000)
    taken.start(time.monotonic_ns())
    for _ in range(20):
        before = len(keyboard.presses)
        wait_for(lambda before=before: len(keyboard.presses) > before or taken.finished)  # type: ignore[misc]
        taken.pause()
        pressed = len(keyboard.presses)
        assert pressed % 2 == 0, "a pair is never torn"
        deadline = time.monotonic() + 0.002
        while time.monotonic() < deadline:
            assert len(keyboard.presses) == pressed
        taken.resume()
    wait_for(lambda: taken.finished)
    assert taken.done_pairs == 3000


def test_pause_waits_for_the_pair_that_is_under_way() -> None:
    pressed, let_go = threading.Event(), threading.Event()

    def slow(direction: str) -> dict[str, Any]:
        pressed.set()
        let_go.wait(20)
        return moved(HOME, NEXT) if direction == "down" else moved(NEXT, HOME)

    keyboard, kept = Keyboard(slow), Kept()
    taken = sampler(keyboard, kept, pairs=2)
    taken.start(time.monotonic_ns())
    assert pressed.wait(20)
    pausing = threading.Thread(target=taken.pause)
    pausing.start()
    assert pausing.is_alive()
    let_go.set()
    pausing.join(20)
    assert [line["key"] for line in kept.lines] == ["down", "up"]
    taken.stop()


def test_an_exception_ends_the_samples_and_is_kept() -> None:
    trouble = RuntimeError("the terminal is gone")

    def fails(_: str) -> dict[str, Any]:
        raise trouble

    kept, taken = all_taken(Keyboard(fails), pairs=3)
    assert taken.error is trouble
    assert (kept.lines, taken.done_pairs, taken.remaining) == ([], 0, 3)


def test_stop_returns_while_the_next_pair_is_far_away_and_while_it_is_paused() -> None:
    far = sampler(Keyboard(), Kept(), pairs=2, seconds=100_000)
    far.start(time.monotonic_ns())
    far.stop()
    assert far.finished
    paused = sampler(Keyboard(), Kept())
    paused.pause()
    paused.start(time.monotonic_ns())
    paused.stop()
    assert (paused.finished, paused.done_pairs, paused.error) == (True, 0, None)
