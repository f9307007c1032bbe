"""One line at the bottom: the help, or a question in its place."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.message import Message
from textual.suggester import SuggestFromList
from textual.widgets import Input

from perfq.viewer.lines import LineBar, Piece

__all__ = ["Prompt", "Question"]


class _Line(Input):
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("tab", "cursor_right", show=False),
        Binding("escape", "cancel", show=False),
    ]

    class Cancelled(Message):
        """Escape."""

    def action_cancel(self) -> None:
        """Leaves the question unanswered."""
        self.post_message(self.Cancelled())


@dataclass(frozen=True)
class Question:
    """What is asked: its name, the words before the line, and the answer so far."""

    name: str
    label: str
    value: str = ""


class Prompt(Horizontal):
    """Help, until it is asked to ask."""

    DEFAULT_CSS = """
    Prompt { height: 1; }
    Prompt LineBar { width: 1fr; }
    Prompt.-asking LineBar { width: auto; }
    Prompt Input { display: none; width: 1fr; height: 1; border: none; padding: 0; background: ansi_default; }
    Prompt Input:focus { border: none; background: ansi_default; }
    Prompt.-asking Input { display: block; }
    """

    class Answered(Message):
        """An answer, at the end or (done: False) while it is typed; None: cancelled."""

        def __init__(self, question: str, text: str | None, *, done: bool) -> None:
            super().__init__()
            self.question = question
            self.text = text
            self.done = done

    def __init__(self, help_line: Sequence[Piece], label_style: Any, **options: Any) -> None:
        super().__init__(**options)
        self._help = list(help_line)
        self._style = label_style
        self._bar = LineBar([self._help])
        self._line = _Line(compact=True)
        self._line.cursor_blink = False
        self._question: str | None = None

    def compose(self) -> ComposeResult:
        """The help or the label, and the line to type in."""
        yield self._bar
        yield self._line

    @property
    def asking(self) -> bool:
        """Whether a question is open."""
        return self._question is not None

    def ask(self, question: Question) -> None:
        """Opens a question in place of the help."""
        self._question = question.name
        self._bar.show([(question.label, self._style)])
        self._bar.styles.width = len(question.label)
        self.add_class("-asking")
        self._line.suggester = None
        with self.prevent(Input.Changed):
            self._line.value = question.value
        self._line.cursor_position = len(question.value)
        self._line.focus()

    def suggest(self, known: Sequence[str]) -> None:
        """Answers that are known; the first that fits is shown while typing, and taken with Tab."""
        if self.asking:
            self._line.suggester = SuggestFromList(known, case_sensitive=False)

    def close(self) -> None:
        """Shows the help again."""
        self._question = None
        self.remove_class("-asking")
        self._bar.styles.width = "1fr"
        self._bar.show(self._help)

    def on_input_changed(self, event: Input.Changed) -> None:
        """While typing."""
        event.stop()
        if self._question is not None:
            self.post_message(self.Answered(self._question, event.value, done=False))

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Enter."""
        event.stop()
        self._finish(event.value)

    def on__line_cancelled(self, event: _Line.Cancelled) -> None:
        """Escape."""
        event.stop()
        self._finish(None)

    def _finish(self, text: str | None) -> None:
        question = self._question
        self.close()
        if question is not None:
            self.post_message(self.Answered(question, text, done=True))
