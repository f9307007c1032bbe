"""The line at the bottom: editing, suggestions, answers."""

from __future__ import annotations

import pytest
from textual import events

from perfq.viewer.palette import Palette
from perfq.viewer.prompt import Prompt, Question


class Desk:
    """A prompt with an open question and what was answered."""

    def __init__(self, value: str = "") -> None:
        self.answers: list[tuple[str | None, bool]] = []
        self.prompt = Prompt([("help", Palette.for_terminal(no_color=True).dim)], Palette.for_terminal(no_color=True))
        self.prompt.ask(Question("? ", lambda text, done: self.answers.append((text, done)), value))

    def press(self, *keys: str) -> Desk:
        for key in keys:
            self.prompt.take_key(events.Key(key, key if len(key) == 1 else None))
        return self

    def shown(self) -> str:
        return "".join(text for text, _ in self.prompt._lines[0])


@pytest.mark.parametrize(
    ("keys", "text"),
    [
        (("a", "b", "enter"), "ab"),
        (("a", "b", "backspace", "c", "enter"), "ac"),
        (("backspace", "enter"), ""),
        (("a", "c", "left", "b", "enter"), "abc"),
        (("a", "b", "home", "delete", "enter"), "b"),
        (("a", "b", "home", "left", "x", "end", "right", "y", "enter"), "xaby"),
        (("o", "n", "e", "space", "t", "w", "o", "ctrl+w", "enter"), "one"),
        (("a", "b", "left", "ctrl+u", "enter"), "b"),
        (("p", "minus", "1", "full_stop", "slash", "shift+x", "enter"), "p-1./X"),
        (("f5", "up", "ctrl+x", "a", "enter"), "a"),
    ],
)
def test_keys_edit_the_answer(keys: tuple[str, ...], text: str) -> None:
    desk = Desk().press(*keys)
    assert desk.answers[-1] == (text, True)
    assert not desk.prompt.asking
    assert desk.shown() == "help"


def test_each_change_is_answered_while_typing_and_escape_with_nothing() -> None:
    desk = Desk("x").press("y", "left", "escape")
    assert desk.answers == [("xy", False), (None, True)]


def test_the_first_known_answer_that_fits_is_shown_and_taken_with_tab() -> None:
    desk = Desk()
    desk.prompt.suggest(["alpha", "bench-0001", "bench-0002"])
    assert desk.shown() == "?  ", "nothing is suggested before anything is typed"
    desk.press("B")
    assert desk.shown() == "? Bench-0001"
    desk.press("tab", "enter")
    assert desk.answers[-1] == ("Bench-0001", True)


def test_pasted_text_is_taken_without_what_cannot_be_shown() -> None:
    desk = Desk()
    desk.prompt.take_text("pod\n\x1b-1")
    assert desk.answers == [("pod-1", False)]


def test_keys_after_the_answer_are_no_longer_taken() -> None:
    desk = Desk().press("enter", "a", "b")
    desk.prompt.suggest(["x"])
    desk.prompt.take_text("x")
    assert desk.answers == [("", True)]
