"""JSON (RFC 8259) with line numbers; duplicate keys, NaN and numbers beyond all use are flaws.

The standard library's reader knows neither lines nor duplicates. Strings are read by its scanner.
"""

from __future__ import annotations

import bisect
import re
from json import JSONDecodeError, JSONDecoder
from typing import Any, Final

from perfq.profile.tree import MAX_DIGITS, TreeBuilder, Unreadable

_STRINGS: Final = JSONDecoder()
_SPACE = re.compile(r"[ \t\r\n]*")
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?")
_WORD = re.compile(r"-?[A-Za-z]+")
_WORDS: Final[dict[str, Any]] = {"true": True, "false": False, "null": None}
_NOT_FINITE: Final = ("NaN", "Infinity", "-Infinity")


class JsonReader:
    """Reads one text into a `TreeBuilder`. Raises `Unreadable` at the first syntax error."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.tree = TreeBuilder()
        self._fresh = False
        self._breaks = [match.start() for match in re.finditer("\n", text)]

    def read(self) -> TreeBuilder:
        """The whole text, as one value."""
        self._value()
        while self.tree.depth:
            self._next()
        if self._peek():
            raise self._unreadable("the end of the document")
        return self.tree

    @property
    def _line(self) -> int:
        return bisect.bisect_left(self._breaks, self.at) + 1

    def _peek(self) -> str:
        space = _SPACE.match(self.text, self.at)
        self.at = space.end() if space else self.at
        return self.text[self.at : self.at + 1]

    def _next(self) -> None:
        """One key with the start of its value, one list item, or one end."""
        closing = "}" if self.tree.wants_key else "]"
        if self._peek() == closing:
            self.at += 1
            self._fresh = False
            self.tree.end()
            return
        if not self._fresh:
            if self._peek() != ",":
                raise self._unreadable(f"a comma or {closing}")
            self.at += 1
        self._fresh = False
        if self.tree.wants_key:
            self._key()
        self._value()

    def _key(self) -> None:
        if self._peek() != '"':
            raise self._unreadable("a key in double quotes")
        line, key = self._line, self._string()
        if self._peek() != ":":
            raise self._unreadable("a colon after the key")
        self.at += 1
        self.tree.key(key, line)

    def _value(self) -> None:
        head, line = self._peek(), self._line
        if head in ("{", "["):
            self.at += 1
            self._fresh = True
            self.tree.begin({} if head == "{" else [], line)
        elif head == '"':
            self.tree.scalar(self._string(), line)
        else:
            self._number_or_word(line)

    def _number_or_word(self, line: int) -> None:
        word = _WORD.match(self.text, self.at)
        if word and word[0] in _WORDS:
            self.at = word.end()
            self.tree.scalar(_WORDS[word[0]], line)
            return
        if word and word[0] in _NOT_FINITE:
            self.at = word.end()
            add_flawed(self.tree, line, word[0], "a finite number")
            return
        number = _NUMBER.match(self.text, self.at)
        if number is None or number.end() == self.at:
            raise self._unreadable("a value")
        self.at = number.end()
        if number[1] is None and number[2] is None:
            add_integer(self.tree, line, number[0])
        else:
            add_float(self.tree, line, number[0])

    def _string(self) -> str:
        try:
            value, self.at = _STRINGS.raw_decode(self.text, self.at)
        except JSONDecodeError as error:
            self.at = min(error.pos, max(len(self.text) - 1, 0))
            raise Unreadable(
                self.tree.flaw(self._line, f"a string that is not JSON ({error.msg.lower()})", "a JSON string")
            ) from error
        return str(value)

    def _unreadable(self, expected: str) -> Unreadable:
        head = self._peek()
        got = repr(self.text[self.at : self.at + 12].split("\n")[0]) if head else "the end of the text"
        return Unreadable(self.tree.flaw(self._line, got, expected))


def add_integer(tree: TreeBuilder, line: int, digits: str, base: int = 10) -> None:
    """An integer as it was written; one of thousands of digits is a flaw."""
    if len(digits) > MAX_DIGITS:
        add_flawed(tree, line, f"an integer of {len(digits.lstrip('-+'))} digits", "a number that is in range")
    else:
        tree.scalar(int(digits, base), line)


def add_float(tree: TreeBuilder, line: int, written: str) -> None:
    """A decimal number as it was written; one beyond a double's range is a flaw."""
    value = float(written)
    if value in (float("inf"), float("-inf")):
        add_flawed(tree, line, written[:40], "a finite number")
    else:
        tree.scalar(value, line)


def add_flawed(tree: TreeBuilder, line: int, got: str, expected: str) -> None:
    """A value that no document may hold; null takes its place."""
    tree.flaws.append(tree.flaw(line, got, expected))
    tree.scalar(None, line)


def read_json(text: str) -> TreeBuilder:
    """A JSON text with the line of each value. Raises `Unreadable` at the first syntax error."""
    return JsonReader(text).read()
