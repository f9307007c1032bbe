"""The table as data: the cells of every row, their order, and the cursor, which stays on its object."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from perfq.viewer.kinds import Cells, Kind, Usage
from perfq.viewer.objects import Key, Record
from perfq.viewer.ordering import Filter, Ordering, Place, Sort

__all__ = ["Applied", "TableModel"]

_NO_USAGE: Mapping[str, Usage] = {}


@dataclass(frozen=True, slots=True)
class Applied:
    """What a diff did: rows whose cells differ now (also added and removed ones), and whether any moved."""

    rows: int
    moved: bool


def _place(key: Key, cells: Cells, sort: Sort) -> Place:
    return key if sort.column is None else (cells[sort.column], key)


class TableModel:
    """Rows of one kind. Indices are of the shown rows, after sort and filter."""

    def __init__(self, kind: Kind) -> None:
        self.kind = kind
        self.rows: dict[Key, Cells] = {}
        self.usage: Mapping[str, Usage] = _NO_USAGE
        text_columns = tuple(i for i, column in enumerate(kind.columns) if not column.is_age)
        self._ordering = Ordering(_place, text_columns)
        self._cells: Callable[[Record, Mapping[str, Usage]], Cells] = kind.cells
        self.widths = [max(column.least, len(column.title)) for column in kind.columns]
        self.cursor: Key | None = None
        self._cursor_index = 0
        #: Until someone moves the cursor it stays on the first row, whichever that is.
        self.cursor_moved = False

    def __len__(self) -> int:
        """Shown rows."""
        return len(self._ordering)

    @property
    def sort(self) -> Sort:
        """The order."""
        return self._ordering.sort

    @property
    def filter(self) -> Filter:
        """Which rows are shown."""
        return self._ordering.filter

    @property
    def cursor_index(self) -> int:
        """Where the cursor stands; 0 in an empty table."""
        return self._cursor_index

    def key(self, index: int) -> Key:
        """The key of a shown row."""
        return self._ordering.key(index)

    def cells(self, index: int) -> Cells:
        """The cells of a shown row."""
        return self.rows[self._ordering.key(index)]

    def index(self, key: Key) -> int | None:
        """Where an object's row stands; None where it is not shown."""
        cells = self.rows.get(key)
        return None if cells is None else self._ordering.index(key, cells)

    def apply(self, changes: Mapping[Key, Record | None]) -> Applied:
        """An in-place diff: only rows whose cells differ are touched."""
        differing: list[tuple[Key, Cells | None, Cells | None]] = []
        rows = self.rows
        for key, record in changes.items():
            before = rows.get(key)
            if record is None:
                if before is not None:
                    del rows[key]
                    differing.append((key, before, None))
                continue
            after = self._cells(record, self.usage)
            if before != after:
                rows[key] = after
                differing.append((key, before, after))
                self._widen(after)
        moved = bool(differing) and self._ordering.update(differing)
        if moved:
            self._keep_cursor()
        return Applied(len(differing), moved)

    def arrange(self, sort: Sort | None = None, shown: Filter | None = None) -> None:
        """Another order or filter; the cursor stays on its object where that is still shown."""
        self._ordering.rebuild(self.rows, sort or self.sort, self.filter if shown is None else shown)
        self._keep_cursor()
        if self.filter.text:
            # What was searched for is where one wants to be, also once all rows are shown again.
            self.cursor_moved = True

    def move_cursor(self, index: int) -> None:
        """Puts the cursor on a shown row, the nearest where there is none such."""
        self.cursor_moved = True
        self._set_cursor(index)

    def clear(self) -> None:
        """No rows; order and filter stay."""
        self.rows = {}
        self._ordering.rebuild(self.rows, self.sort, self.filter)
        self.cursor_moved = False
        self._keep_cursor()

    def _set_cursor(self, index: int) -> None:
        count = len(self)
        self._cursor_index = max(0, min(index, count - 1))
        self.cursor = self.key(self._cursor_index) if count else None

    def _keep_cursor(self) -> None:
        at = self.index(self.cursor) if self.cursor is not None and self.cursor_moved else None
        self._set_cursor((self._cursor_index if self.cursor_moved else 0) if at is None else at)

    def _widen(self, cells: Cells) -> None:
        widths = self.widths
        for i, cell in enumerate(cells):
            if type(cell) is str and len(cell) > widths[i]:
                widths[i] = len(cell)
