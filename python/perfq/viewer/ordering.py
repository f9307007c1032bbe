"""Rows in order: sorted once, then kept in order as rows change. Filtered by namespace and text."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from perfq.viewer.kinds import Cells
from perfq.viewer.objects import Key

__all__ = ["Filter", "Ordering", "Sort"]

#: From so many changed places on, sorting the whole is cheaper than moving one by one.
_BULK = 256


@dataclass(frozen=True, slots=True)
class Sort:
    """By which column (None: by namespace and name), and which way round."""

    column: int | None = None
    descending: bool = False


@dataclass(frozen=True, slots=True)
class Filter:
    """Which rows are shown: of one namespace ("" for all), and with the text in any of their cells."""

    namespace: str = ""
    text: str = ""

    def __bool__(self) -> bool:
        return bool(self.namespace or self.text)

    def admits(self, key: Key, cells: Cells, text_columns: tuple[int, ...]) -> bool:
        """Whether the row is shown. The text is compared without regard to case."""
        if self.namespace and key[0] != self.namespace:
            return False
        if not self.text:
            return True
        wanted = self.text.casefold()
        return any(wanted in str(cells[i]).casefold() for i in text_columns)


Place = tuple[str, str] | tuple[str | int, Key]


class Ordering:
    """The keys of the shown rows in their order.

    A place is what a row is sorted by and its key, so that no two are equal and any row is found by
    bisection. Descending order is the ascending one, read from its end.
    """

    def __init__(self, place: Callable[[Key, Cells, Sort], Place], text_columns: tuple[int, ...]) -> None:
        self._place = place
        self._text_columns = text_columns
        self._places: list[Place] = []
        self.sort = Sort()
        self.filter = Filter()

    def __len__(self) -> int:
        return len(self._places)

    def key(self, index: int) -> Key:
        """The key at an index."""
        return self._key(self._places[-1 - index if self.sort.descending else index])

    def keys(self) -> Iterator[Key]:
        """All keys in order."""
        return map(self._key, reversed(self._places) if self.sort.descending else self._places)

    def index(self, key: Key, cells: Cells) -> int | None:
        """Where a row stands; None where it is not shown."""
        place = self._place(key, cells, self.sort)
        at = bisect_left(self._places, place)
        if at == len(self._places) or self._places[at] != place:
            return None
        return len(self._places) - 1 - at if self.sort.descending else at

    def rebuild(self, rows: Mapping[Key, Cells], sort: Sort, shown: Filter) -> None:
        """Another order or filter: all rows are looked at once."""
        self.sort, self.filter = sort, shown
        place, columns = self._place, self._text_columns
        if shown:
            self._places = [place(k, c, sort) for k, c in rows.items() if shown.admits(k, c, columns)]
        else:
            self._places = [place(k, c, sort) for k, c in rows.items()]
        self._places.sort()

    def update(self, changes: list[tuple[Key, Cells | None, Cells | None]]) -> bool:
        """Takes in changed rows as (key, cells before, cells after); True where any row changed its place."""
        gone: list[Place] = []
        come: list[Place] = []
        for key, before, after in changes:
            old, new = self._shown_at(key, before), self._shown_at(key, after)
            if old == new:
                continue
            if old is not None:
                gone.append(old)
            if new is not None:
                come.append(new)
        if len(gone) + len(come) > _BULK:
            if gone:
                leaving = set(gone)
                self._places = [place for place in self._places if place not in leaving]
            come.sort()
            behind = not self._places or (come and come[0] > self._places[-1])
            self._places.extend(come)
            if not behind:
                self._places.sort()
        else:
            for place in gone:
                del self._places[bisect_left(self._places, place)]
            for place in come:
                insort(self._places, place)
        return bool(gone or come)

    def _shown_at(self, key: Key, cells: Cells | None) -> Place | None:
        if cells is None or (self.filter and not self.filter.admits(key, cells, self._text_columns)):
            return None
        return self._place(key, cells, self.sort)

    def _key(self, place: Place) -> Key:
        return place if self.sort.column is None else place[1]  # type: ignore[return-value]
