"""The value of a recording, as another program wrote it, with a path for everything that is wrong with it.

What is not read is not judged: NaN, lone surrogates, NUL and bytes that are no UTF-8 are refused only where a field is
read, with the path of that field.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final

from perfq.errors import UsageError
from perfq.profile.document import Problem, refuse
from perfq.profile.shown import show_value
from perfq.profile.source import Source
from perfq.profile.tree import Path, has

#: Seconds since 1970 are nowhere near; NaN is not below it either.
_LARGEST: Final = 1e15


@dataclass(frozen=True, slots=True)
class Recording:
    """A file, or a folder of files, that was read whole."""

    #: What errors call it.
    name: str
    #: What a session is called whose recording says no name.
    stem: str
    value: Any
    sha256: str
    problems: list[Problem] = field(default_factory=list)

    @property
    def root(self) -> Node:
        """Its value, to be read from."""
        return Node(self.value, (), self)

    def refuse_if_flawed(self) -> None:
        """UsageError (2) with every problem so far, one a line."""
        if self.problems:
            raise refuse(self.name, list(dict.fromkeys(self.problems)))


@dataclass(frozen=True, slots=True)
class Node:
    """A part of a recording, absent where it is None. Reading what is not of its type is noted in the recording."""

    value: Any
    path: Path
    recording: Recording

    def __getitem__(self, key: str | int) -> Node:
        return Node(self.value[key] if has(self.value, key) else None, (*self.path, key), self.recording)

    def __contains__(self, key: str) -> bool:
        return isinstance(self.value, dict) and key in self.value

    def __bool__(self) -> bool:
        return self.value is not None

    def problem(self, expected: str, got: str | None = None) -> None:
        """Says what is wrong here."""
        said = show_value(_showable(self.value)) if got is None else got
        self.recording.problems.append(Problem(self.recording.name, self.path, said, expected))

    def items(self) -> Iterator[Node]:
        """The parts of a list; none where it is absent."""
        if self.value is None:
            return
        if not isinstance(self.value, list):
            self.problem("a list")
            return
        yield from (self[index] for index in range(len(self.value)))

    def keys(self) -> list[str]:
        """Of a mapping; none of anything else."""
        return list(self.value) if isinstance(self.value, dict) else []

    def text(self) -> str | None:
        """Text as it stands; None where it is absent."""
        if self.value is None or isinstance(self.value, str):
            return self.value
        self.problem("text")
        return None

    def integer(self) -> int | None:
        """A whole number."""
        if self.value is None or (isinstance(self.value, int) and not isinstance(self.value, bool)):
            return self.value
        if isinstance(self.value, float) and self.value.is_integer():
            return int(self.value)
        self.problem("an integer")
        return None

    def number(self) -> float | None:
        """A finite number."""
        if self.value is None:
            return None
        if isinstance(self.value, (int, float)) and not isinstance(self.value, bool) and abs(self.value) < _LARGEST:
            return self.value
        self.problem("a finite number")
        return None

    @property
    def key(self) -> str | int | None:
        """An id or a name, to be looked up or compared; None for everything else."""
        return self.value if isinstance(self.value, (str, int)) and not isinstance(self.value, bool) else None

    def truth(self) -> bool:
        """true, or the text of it: some programs write "true"."""
        return self.value is True or (isinstance(self.value, str) and self.value.lower() == "true")

    def loose_text(self) -> str:
        """Text where there is any; "" for everything else. For hints that decide nothing by themselves."""
        return self.value if isinstance(self.value, str) else ""


def _showable(value: Any) -> Any:
    """A value without what JSON has no word for."""
    return repr(value) if isinstance(value, float) and not math.isfinite(value) else value


def parse_recording(source: Source, stem: str) -> Recording:
    """JSON, or JSON lines as a list. UsageError (2) where the text is neither."""
    text = source.data.decode("utf-8-sig", errors="surrogateescape")
    sha256 = hashlib.sha256(source.data).hexdigest()
    try:
        return Recording(source.name, stem, _read(text), sha256)
    except json.JSONDecodeError as error:
        line = text.count("\n", 0, error.pos) + 1
        raise UsageError(
            f"{source.name}:{line}: got a text that is not JSON ({error.msg}), expected a recording"
        ) from error
    except RecursionError as error:
        raise UsageError(f"{source.name}: got a document that is too deep, expected a recording") from error
    except ValueError as error:  # numbers of thousands of digits
        raise UsageError(f"{source.name}: got a text that cannot be read ({error}), expected a recording") from error


def _read(text: str) -> Any:
    """A document, or JSON lines: those have a document of their own on the first line."""
    try:
        return json.loads(text)
    except json.JSONDecodeError as whole:
        values: list[Any] = []
        begin = 0
        for line in text.split("\n"):
            try:
                if line.strip():
                    values.append(json.loads(line))
            except json.JSONDecodeError as error:
                raise (json.JSONDecodeError(error.msg, text, begin + error.pos) if values else whole) from None
            begin += len(line) + 1
        if len(values) < 2:
            raise
        return values
