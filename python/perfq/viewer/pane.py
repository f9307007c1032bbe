"""A pane: a title, what is wrong with its scope, and its table."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from textual.app import ComposeResult
from textual.containers import Vertical

from perfq.viewer.inbox import Problem
from perfq.viewer.kinds import Scope
from perfq.viewer.lines import LineBar, Piece
from perfq.viewer.ordering import Filter, Sort
from perfq.viewer.palette import Palette
from perfq.viewer.row_table import RowTable
from perfq.viewer.store import Changes
from perfq.viewer.table_model import TableModel

__all__ = ["TablePane"]

#: Longer than any terminal is wide.
_RULE = "─" * 1_000


class TablePane(Vertical):
    """One scope on the screen."""

    DEFAULT_CSS = "TablePane { height: 1fr; }"

    def __init__(self, scope: Scope, table: RowTable, palette: Palette, **options: Any) -> None:
        super().__init__(**options)
        self._scope = scope
        self.table = table
        self._palette = palette
        self.bar = LineBar([[("", palette.plain)]])
        self._complete = False
        self._problem: str | None = None
        self._beside: tuple[Piece, ...] = ()
        table.palette = palette

    def compose(self) -> ComposeResult:
        """The title line, then the table."""
        yield self.bar
        yield self.table

    def on_mount(self) -> None:
        """Says at once what will be here."""
        self._say()

    @property
    def scope(self) -> Scope:
        """What it shows."""
        return self._scope

    @property
    def model(self) -> TableModel:
        """Its rows."""
        return self.table.model

    @property
    def undrawn(self) -> bool:
        """Whether a visible row waits to be drawn."""
        return self.table.undrawn

    def apply(self, changes: Changes) -> int:
        """Takes in what changed in its scope; gives the rows in its table."""
        diff = self.model.apply(changes.objects)
        self.table.applied(diff)
        if changes.listed is not None:
            self._complete = True
        if diff.moved or changes.listed is not None:
            self._say()
        return len(self.model.rows)

    def show_scope(self, scope: Scope) -> None:
        """Another scope of the same kind, with nothing in it yet."""
        self._scope = scope
        self._complete = False
        self._problem = None
        self.model.clear()
        self.table.rearranged()
        self._say()

    def show_problem(self, problem: Problem) -> None:
        """What is wrong, in one line; or that all is well again."""
        self._problem = problem.text
        self._say()

    def show_beside(self, *pieces: Piece) -> None:
        """What stands beside the title."""
        self._beside = pieces
        self._say()

    def rearrange(self, sort: Sort | None = None, shown: Filter | None = None) -> None:
        """Another order or filter."""
        self.model.arrange(sort, shown)
        self.table.rearranged()
        self._say()

    def cycle_sort(self) -> None:
        """By the next column; after the last one by namespace and name again."""
        column = self.model.sort.column
        following = 0 if column is None else column + 1
        # The first columns are the default order already.
        following = max(following, 2 if self.model.kind.namespaced else 1)
        self.rearrange(Sort() if following >= len(self.model.kind.columns) else Sort(following))

    def sort_by(self, column: int) -> None:
        """By a column; a second time the other way round."""
        if column >= len(self.model.kind.columns):
            return
        sort = self.model.sort
        self.rearrange(Sort(column, descending=sort.column == column and not sort.descending))

    def reverse(self) -> None:
        """The other way round."""
        sort = self.model.sort
        self.rearrange(Sort(sort.column, not sort.descending))

    def _say(self) -> None:
        lines: list[list[Piece]] = [list(self._title())]
        if self.id == "nodes":
            # Not a border: Textual would draw it black on black where NO_COLOR is set.
            lines.insert(0, [(_RULE, self._palette.dim)])
        if self._problem:
            lines.append([(self._problem, self._palette.problem)])
        self.bar.show(*lines)

    def _title(self) -> Iterator[Piece]:
        model, plain = self.model, self._palette.plain
        kind, shown, rows = model.kind, len(model), len(model.rows)
        yield f"{kind.name.capitalize()} ", self._palette.title
        count = f"{shown} of {rows}" if model.filter else str(rows)
        yield count if self._complete else f"{count} …", plain
        where = self._scope.namespace or model.filter.namespace
        if kind.namespaced:
            yield f"  in {where or 'all namespaces'}", plain
        if model.filter.text:
            yield f"  /{model.filter.text}", self._palette.key
        sort = model.sort
        if sort.column is not None or sort.descending:
            title = "name" if sort.column is None else kind.columns[sort.column].title
            yield f"  by {title} {'↓' if sort.descending else '↑'}", plain
        yield from self._beside
