"""Plain lines on the screen: one-line bars, and a scrolling text."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence
from typing import Any, ClassVar

from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.binding import Binding, BindingType
from textual.geometry import Region
from textual.strip import Strip
from textual.widget import Widget

__all__ = ["LineBar", "Piece", "TextLines"]

#: A text and how it is drawn.
Piece = tuple[str, Style]

_PLAIN = Style()


def _strip(pieces: Iterable[Piece], width: int) -> Strip:
    segments = [Segment(text, style) for text, style in pieces if text]
    return Strip(segments).adjust_cell_length(width, _PLAIN)


class LineBar(Widget):
    """Lines that are set from outside, drawn anew only where they differ. No lines: no height."""

    DEFAULT_CSS = "LineBar { height: auto; }"

    def __init__(self, lines: Sequence[Sequence[Piece]] = (), **options: Any) -> None:
        super().__init__(**options)
        self._lines: list[list[Piece]] = [list(line) for line in lines]
        self.styles.height = len(self._lines)

    def show(self, *lines: Sequence[Piece]) -> None:
        """Shows these lines."""
        wanted = [list(line) for line in lines]
        if wanted == self._lines:
            return
        resized = len(wanted) != len(self._lines)
        self._lines = wanted
        if resized:
            self.styles.height = len(wanted)
        self.refresh(layout=resized)

    def render_lines(self, crop: Region) -> list[Strip]:
        """The lines of a region."""
        width = self.size.width
        lines = [_strip(self._lines[y] if y < len(self._lines) else (), width) for y in range(crop.y, crop.bottom)]
        return [line.crop(crop.x, crop.right) for line in lines]


class TextLines(Widget, can_focus=True):
    """Text that scrolls. While its end is in view it follows what is appended."""

    DEFAULT_CSS = "TextLines { height: 1fr; }"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up,k", "scroll_by(-1)", show=False),
        Binding("down,j", "scroll_by(1)", show=False),
        Binding("pageup,ctrl+b", "page(-1)", show=False),
        Binding("pagedown,ctrl+f,space", "page(1)", show=False),
        Binding("home,g", "scroll_by(-1000000)", show=False),
        Binding("end,G", "scroll_by(1000000)", show=False),
    ]

    def __init__(self, *, follow: bool, longest: int = 10_000, **options: Any) -> None:
        super().__init__(**options)
        self._lines: deque[str] = deque(maxlen=longest)
        self._top = 0
        self._follow = follow

    def append(self, lines: Iterable[str]) -> None:
        """Adds lines at the end; the oldest go where there are too many."""
        before = len(self._lines)
        added = list(lines)
        self._lines.extend(added)
        if self._follow:
            self._top = self._last_top()
        else:
            self._top = max(0, self._top - (before + len(added) - len(self._lines)))
        self.refresh()

    def action_scroll_by(self, lines: int) -> None:
        """Scrolls; at the end it follows again."""
        last = self._last_top()
        self._top = max(0, min(self._top + lines, last))
        self._follow = self._top == last and lines > 0
        self.refresh()

    def action_page(self, pages: int) -> None:
        """Scrolls by screens."""
        self.action_scroll_by(pages * max(1, self.size.height - 1))

    def on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        """Scrolls."""
        event.stop()
        self.action_scroll_by(3)

    def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        """Scrolls."""
        event.stop()
        self.action_scroll_by(-3)

    def on_resize(self) -> None:
        """Another size."""
        self._top = self._last_top() if self._follow else min(self._top, self._last_top())

    def render_lines(self, crop: Region) -> list[Strip]:
        """The lines of a region."""
        width = self.size.width
        strips = []
        for y in range(self._top + crop.y, self._top + crop.bottom):
            text = self._lines[y] if y < len(self._lines) else ""
            strips.append(_strip([(text, _PLAIN)], width).crop(crop.x, crop.right))
        return strips

    def _last_top(self) -> int:
        return max(0, len(self._lines) - self.size.height)


def printable(text: str) -> str:
    """A foreign line made fit for the screen: tabs widened, control characters and escapes replaced."""
    text = text.expandtabs(8)
    return text if text.isprintable() else "".join(c if c.isprintable() else "�" for c in text)
