"""The value of a document with the line of each of its parts, built by the JSON and the YAML reader."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final

#: Keys and list indices from the root: `("bursts", 0, "start_second")`.
Path = tuple[str | int, ...]

#: Documents that people write are nowhere near this deep.
MAX_DEPTH: Final = 64
#: CPython refuses to convert much longer numbers; no document needs a tenth of it.
MAX_DIGITS: Final = 4_000


def has(value: Any, step: str | int) -> bool:
    """Whether a mapping has that key, or a list that index."""
    if isinstance(value, list):
        return isinstance(step, int) and 0 <= step < len(value)
    return isinstance(value, dict) and step in value


@dataclass(frozen=True, slots=True)
class Flaw:
    """One thing that is wrong in a document. `line` counts from 1."""

    line: int
    path: Path
    got: str
    expected: str


class Unreadable(Exception):
    """The text cannot be read any further: a syntax error, an alias, too deep."""

    def __init__(self, flaw: Flaw) -> None:
        super().__init__(f"line {flaw.line}: got {flaw.got}, expected {flaw.expected}")
        self.flaw = flaw


@dataclass(slots=True)
class Place:
    """Where a value stands, and where its parts do."""

    line: int
    parts: dict[str, Place] | list[Place] | None = None

    def find(self, path: Path) -> Place:
        """The place of the deepest part of `path` that exists."""
        here = self
        for step in path:
            below: Any = here.parts
            if not has(below, step):
                break
            here = below[step]
        return here


@dataclass(slots=True)
class _Open:
    """A mapping or list that has not ended."""

    value: dict[str, Any] | list[Any]
    place: Place
    path: Path
    key: str | None = None
    key_line: int = 0


@dataclass(slots=True)
class TreeBuilder:
    """Takes a document piece by piece; a second key of the same name is a flaw, and the first one stays."""

    value: Any = None
    place: Place = field(default_factory=lambda: Place(1))
    flaws: list[Flaw] = field(default_factory=list)
    _open: list[_Open] = field(default_factory=list)

    @property
    def depth(self) -> int:
        """How many mappings and lists are open."""
        return len(self._open)

    @property
    def path(self) -> Path:
        """Where the next value goes."""
        if not self._open:
            return ()
        inner = self._open[-1]
        if isinstance(inner.value, list):
            return (*inner.path, len(inner.value))
        return inner.path if inner.key is None else (*inner.path, inner.key)

    @property
    def wants_key(self) -> bool:
        """In a mapping, before a key."""
        return bool(self._open) and isinstance(self._open[-1].value, dict) and self._open[-1].key is None

    def flaw(self, line: int, got: str, expected: str) -> Flaw:
        """A flaw of the next value."""
        return Flaw(line, self.path, got, expected)

    def key(self, name: str, line: int) -> None:
        """A key of the innermost mapping. Raises `Unreadable` for one that is no text."""
        if any("\ud800" <= char <= "\udfff" for char in name):
            raise Unreadable(self.flaw(line, f"the key {name!a}", "a key without lone surrogates"))
        inner = self._open[-1]
        inner.key, inner.key_line = name, line

    def scalar(self, value: Any, line: int) -> None:
        """A value that is neither a mapping nor a list."""
        self._add(value, Place(line))

    def begin(self, value: dict[str, Any] | list[Any], line: int) -> None:
        """An empty mapping or list, to be filled until `end`. Raises `Unreadable` where it is too deep."""
        if self.depth == MAX_DEPTH:
            raise Unreadable(self.flaw(line, f"more than {MAX_DEPTH} levels", "a document that is less deep"))
        path, place = self.path, Place(line, {} if isinstance(value, dict) else [])
        self._add(value, place)
        self._open.append(_Open(value, place, path))

    def end(self) -> None:
        """The innermost mapping or list is complete."""
        self._open.pop()

    def _add(self, value: Any, place: Place) -> None:
        if not self._open:
            self.value, self.place = value, place
            return
        inner = self._open[-1]
        if isinstance(inner.value, list) and isinstance(inner.place.parts, list):
            inner.value.append(value)
            inner.place.parts.append(place)
        elif isinstance(inner.value, dict) and isinstance(inner.place.parts, dict) and inner.key is not None:
            first = inner.place.parts.get(inner.key)
            if first is None:
                place.line = inner.key_line
                inner.value[inner.key] = value
                inner.place.parts[inner.key] = place
            else:
                again = Flaw(inner.key_line, self.path, "the key again", f"it once (first on line {first.line})")
                self.flaws.append(again)
            inner.key = None
