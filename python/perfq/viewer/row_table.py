"""The table on the screen: draws visible rows only, and of these only the ones that changed."""

from __future__ import annotations

import time
from typing import Any, ClassVar

from rich.segment import Segment
from textual import events
from textual.binding import Binding, BindingType
from textual.geometry import Region
from textual.strip import Strip
from textual.widget import Widget

from perfq.viewer.age import age
from perfq.viewer.kinds import Cells
from perfq.viewer.objects import Key
from perfq.viewer.palette import Palette
from perfq.viewer.table_model import Applied, TableModel

__all__ = ["RowTable"]

_GAP = 2

#: What a line shows: cells (None: no row), the age as text, and the cursor (0 none, 1 resting, 2 in focus).
_Shown = tuple[Cells | None, str, int]
_NOTHING: _Shown = (None, "", 0)


class RowTable(Widget, can_focus=True):
    """A view of a TableModel. The first line is the header."""

    DEFAULT_CSS = "RowTable { height: 1fr; }"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up,k", "move(-1)", show=False),
        Binding("down,j", "move(1)", show=False),
        Binding("pageup,ctrl+b", "page(-1)", show=False),
        Binding("pagedown,ctrl+f", "page(1)", show=False),
        Binding("home,g", "edge(0)", show=False),
        Binding("end,G", "edge(1)", show=False),
    ]

    def __init__(self, model: TableModel, **options: Any) -> None:
        super().__init__(**options)
        self.model = model
        self.palette = Palette.for_terminal(no_color=False)
        self._top = 0
        self._top_key: Key | None = None
        #: The cursor's line in the viewport, also beyond it where the viewport was scrolled away.
        self._cursor_line = 0
        self._lines_before = 0
        self._now = int(time.time())
        self._drawn: list[_Shown] = []
        self._strips: list[Strip] = []
        self._header: Strip | None = None
        self._undrawn: set[int] = set()
        self._widths: tuple[int, ...] = ()
        self._natural: tuple[int, ...] = ()
        status = next(i for i, column in enumerate(model.kind.columns) if column.title == "STATUS")
        self._status = status
        self._age = model.kind.age_column

    @property
    def body(self) -> int:
        """Lines for rows."""
        return max(0, self.size.height - 1)

    @property
    def top(self) -> int:
        """The index of the first visible row."""
        return self._top

    @property
    def on_top(self) -> bool:
        """Whether it is on the screen that is shown (Textual counts screens under it as current too)."""
        return self.is_attached and self.app.screen is self.screen

    @property
    def undrawn(self) -> bool:
        """Whether a visible line waits to be drawn."""
        return bool(self._undrawn) and self.on_top

    def applied(self, diff: Applied) -> None:
        """The model took in a diff: keep the viewport on its objects, mark the visible lines that differ."""
        if diff.moved:
            self._follow()
        if diff.rows:
            self._mark()

    def rearranged(self) -> None:
        """Another order or filter: the cursor's row is brought into view."""
        self._header = None
        self._reveal()
        self._mark()

    def tick(self) -> None:
        """A second has passed: ages."""
        self._now = int(time.time())
        self._mark()

    def action_move(self, rows: int) -> None:
        """Moves the cursor by rows."""
        self._go(self.model.cursor_index + rows)

    def action_page(self, pages: int) -> None:
        """Moves the cursor by screens."""
        self._go(self.model.cursor_index + pages * max(1, self.body - 1))

    def action_edge(self, last: int) -> None:
        """Moves the cursor to the first or last row."""
        self._go(len(self.model) - 1 if last else 0)

    def on_click(self, event: events.Click) -> None:
        """Puts the cursor on the row under the pointer."""
        if 0 < event.y <= self.body and self._top + event.y - 1 < len(self.model):
            self._go(self._top + event.y - 1)

    def on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        """Scrolls the viewport; the cursor stays on its object."""
        event.stop()
        self._scroll(3)

    def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        """Scrolls the viewport; the cursor stays on its object."""
        event.stop()
        self._scroll(-3)

    def on_resize(self) -> None:
        """Another size: the cursor stays in view where it was."""
        self._drawn = []
        self._widths = ()
        was_visible = 0 <= self._cursor_line < max(1, self._lines_before)
        self._lines_before = self.body
        if was_visible:
            self._reveal()
        self.refresh()

    def on_focus(self) -> None:
        """The cursor's row is drawn otherwise."""
        self._mark()

    def on_blur(self) -> None:
        """The cursor's row is drawn otherwise."""
        self._mark()

    def render_lines(self, crop: Region) -> list[Strip]:
        """The lines of a region, from what was drawn before where it is the same."""
        self._prepare()
        lines = [self._line(y) for y in range(crop.y, crop.bottom)]
        if crop.x == 0 and crop.width == self.size.width:
            return lines
        return [line.crop(crop.x, crop.right) for line in lines]

    def _go(self, index: int) -> None:
        before = self.model.cursor_index
        self.model.move_cursor(index)
        if self.model.cursor_index != before or not self._top <= before < self._top + self.body:
            self._reveal()
            self._mark()

    def _scroll(self, rows: int) -> None:
        self._set_top(self._top + rows)
        self.model.cursor_moved = True
        self._mark()

    def _reveal(self) -> None:
        cursor, body = self.model.cursor_index, max(1, self.body)
        self._set_top(min(max(self._top, cursor - body + 1), cursor))

    def _set_top(self, top: int) -> None:
        self._top = max(0, min(top, len(self.model) - self.body))
        self._top_key = self.model.key(self._top) if len(self.model) else None
        self._cursor_line = self.model.cursor_index - self._top

    def _follow(self) -> None:
        """Rows came, went or moved: the cursor's row stays on its line, else the first visible one does."""
        if not self.model.cursor_moved:
            self._set_top(0)
        elif 0 <= self._cursor_line < self.body:
            self._set_top(self.model.cursor_index - self._cursor_line)
        else:
            at = self.model.index(self._top_key) if self._top_key is not None else None
            self._set_top(self._top if at is None else at)

    def _shown(self, line: int) -> _Shown:
        index = self._top + line
        if index >= len(self.model):
            return _NOTHING
        cells = self.model.cells(index)
        created = cells[self._age]
        cursor = (2 if self.has_focus else 1) if index == self.model.cursor_index else 0
        return (cells, age(self._now - created) if type(created) is int and created else "<unknown>", cursor)

    def _mark(self) -> None:
        """Asks for the visible lines that differ from what was drawn, and for no other."""
        if not self.on_top:
            return
        if tuple(self.model.widths) != self._natural:
            self.refresh()
            self._undrawn.update(range(self.body))
            return
        if len(self._drawn) != self.body:
            self.refresh()
            return
        lines = [y for y in range(self.body) if not _same(self._drawn[y], self._shown(y))]
        if lines:
            width = self.size.width
            self._undrawn.update(lines)
            self.refresh(*(Region(0, y + 1, width, 1) for y in lines))

    def _prepare(self) -> None:
        natural = tuple(self.model.widths)
        if natural != self._natural or not self._widths or len(self._drawn) != self.body:
            self._natural = natural
            self._widths = fit(natural, tuple(c.least for c in self.model.kind.columns), self.size.width)
            self._drawn = [_NOTHING] * self.body
            self._strips = [Strip.blank(self.size.width, self.palette.plain)] * self.body
            self._header = None

    def _line(self, y: int) -> Strip:
        if y == 0:
            if self._header is None:
                self._header = self._draw_header()
            return self._header
        line = y - 1
        if line >= len(self._drawn):
            return Strip.blank(self.size.width, self.palette.plain)
        self._undrawn.discard(line)
        shown = self._shown(line)
        if not _same(self._drawn[line], shown):
            self._drawn[line] = shown
            self._strips[line] = self._draw(shown)
        return self._strips[line]

    def _draw_header(self) -> Strip:
        segments = []
        sort = self.model.sort.column
        for i, (column, width) in enumerate(zip(self.model.kind.columns, self._widths, strict=True)):
            style = self.palette.sorted_header if i == sort else self.palette.header
            title = column.title[:width]
            segments += [
                Segment(title, style),
                Segment(" " * (width + _GAP - len(title)), self.palette.header),
            ]
        return _fill(segments, self.size.width, self.palette.plain)

    def _draw(self, shown: _Shown) -> Strip:
        cells, age_text, cursor = shown
        if cells is None:
            return Strip.blank(self.size.width, self.palette.plain)
        texts = []
        for i, width in enumerate(self._widths):
            text = age_text if i == self._age else str(cells[i])
            if not text.isprintable():
                text = "".join(c if c.isprintable() else "�" for c in text)
            texts.append((text if len(text) <= width else f"{text[: width - 1]}…").ljust(width + _GAP))
        if cursor:
            style = self.palette.cursor if cursor == 2 else self.palette.resting
            return _fill([Segment("".join(texts), style)], self.size.width, style)
        status = self._status
        plain = self.palette.plain
        coloured = self.palette.status(str(cells[status]))
        if coloured is plain:
            return _fill([Segment("".join(texts), plain)], self.size.width, plain)
        segments = [
            Segment("".join(texts[:status]), plain),
            Segment(texts[status], coloured),
            Segment("".join(texts[status + 1 :]), plain),
        ]
        return _fill([one for one in segments if one.text], self.size.width, plain)


def _same(one: _Shown, other: _Shown) -> bool:
    return one[0] is other[0] and one[2] == other[2] and one[1] == other[1]


def _fill(segments: list[Segment], width: int, style: Any) -> Strip:
    return Strip(segments).adjust_cell_length(width, style)


def fit(natural: tuple[int, ...], least: tuple[int, ...], width: int) -> tuple[int, ...]:
    """Widths that fit: the widest columns give way first, none below its least; then it is cut."""
    widths = list(natural)
    over = sum(widths) + _GAP * (len(widths) - 1) - width
    while over > 0:
        giving = [i for i in range(len(widths)) if widths[i] > least[i]]
        if not giving:
            break
        widest = max(giving, key=lambda i: widths[i])
        widths[widest] -= 1
        over -= 1
    return tuple(widths)
