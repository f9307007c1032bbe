"""One line at the bottom: the help, or a question in its place.

The app gives every key to an open question before anything else sees it, and in the order in which they
were typed: a widget of its own focus would get them through several queues, and quick typing would end
up in the table.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from textual import events
from textual.keys import key_to_character

from perfq.viewer.lines import LineBar, Piece
from perfq.viewer.palette import Palette

__all__ = ["Prompt", "Question"]


@dataclass(frozen=True)
class Question:
    """What is asked, the answer so far, and what is done with it."""

    label: str
    #: Called with the answer: at the end (True), and while it is typed (False). None: cancelled.
    answered: Callable[[str | None, bool], None]
    value: str = ""


#: Textual's names for keys that its own `key_to_character` does not know.
_NAMED = {"minus": "-", "plus": "+", "underscore": "_", "slash": "/", "backslash": "\\", "at": "@"}


def _character(key: str) -> str | None:
    """What a key types, where the terminal reported its name alone."""
    name = key.removeprefix("shift+")
    if name != key and len(name) == 1:
        return name.upper()
    return _NAMED.get(name) or key_to_character(name)


class Prompt(LineBar):
    """Help, until it is asked to ask."""

    def __init__(self, help_line: Sequence[Piece], palette: Palette, **options: Any) -> None:
        super().__init__([help_line], **options)
        self._help = list(help_line)
        self._palette = palette
        self._question: Question | None = None
        self._known: Sequence[str] = ()
        self._text = ""
        self._at = 0

    @property
    def asking(self) -> bool:
        """Whether a question is open."""
        return self._question is not None

    def ask(self, question: Question) -> None:
        """Opens a question in place of the help."""
        self._question = question
        self._known = ()
        self._text = question.value
        self._at = len(self._text)
        self._show()

    def suggest(self, known: Sequence[str]) -> None:
        """Answers that are known; the first that fits is shown while typing, and taken with Tab."""
        if self.asking:
            self._known = known
            self._show()

    def take_key(self, event: events.Key) -> None:
        """A key for the open question."""
        question = self._question
        if question is None:
            return
        if event.key in ("enter", "escape"):
            self._question = None
            self.show(self._help)
            question.answered(self._text if event.key == "enter" else None, True)
            return
        before = self._text
        character = event.character or _character(event.key)
        self._edit(event.key, character if character is not None and character.isprintable() else None)
        self._show()
        if self._text != before:
            question.answered(self._text, False)

    def take_text(self, text: str) -> None:
        """Pasted text."""
        if self._question is not None:
            self._insert("".join(c for c in text if c.isprintable()))
            self._show()
            self._question.answered(self._text, False)

    def _edit(self, key: str, character: str | None) -> None:
        text, at = self._text, self._at
        if key == "backspace":
            self._replace(text[: max(0, at - 1)], text[at:])
        elif key == "delete":
            self._replace(text[:at], text[at + 1 :])
        elif key == "ctrl+u":
            self._replace("", text[at:])
        elif key == "ctrl+w":
            self._replace(text[:at].rstrip().rpartition(" ")[0], text[at:])
        elif key == "tab":
            self._insert(self._suggestion)
        elif key in ("left", "right"):
            self._at = max(0, min(at + (1 if key == "right" else -1), len(text)))
        elif key in ("home", "ctrl+a"):
            self._at = 0
        elif key in ("end", "ctrl+e"):
            self._at = len(text)
        elif character is not None:
            self._insert(character)

    def _insert(self, text: str) -> None:
        self._replace(self._text[: self._at] + text, self._text[self._at :])

    def _replace(self, before: str, after: str) -> None:
        self._text, self._at = before + after, len(before)

    @property
    def _suggestion(self) -> str:
        """What is missing of the first known answer that begins so."""
        typed = self._text.casefold()
        if not typed or self._at < len(self._text):
            return ""
        return next((one[len(typed) :] for one in self._known if one.casefold().startswith(typed)), "")

    def _show(self) -> None:
        assert self._question is not None
        palette, text, at = self._palette, self._text, self._at
        rest = self._suggestion
        under = text[at : at + 1] or rest[:1] or " "
        self.show(
            [
                (self._question.label, palette.key),
                (text[:at], palette.plain),
                # Not reversed: a reversed row is the table's cursor.
                (under, palette.resting),
                (text[at + 1 :] if at < len(text) else rest[1:], palette.plain if at < len(text) else palette.dim),
            ]
        )
