"""samples.ndjson, read as typed records. The contract is docs/reference/samples.md.

A killed run may leave a torn last line: it is left out and counted. Any other line that does not fit
is left out and counted too, with the first few named, since a run whose record has holes proves less.
What every kind of run records is here; replay_samples.py and load/samples.py hold what only theirs does.
"""

from __future__ import annotations

import types
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

import msgspec
from msgspec import Meta, Struct

#: How many bad lines are named; all are counted.
NAMED = 5


#: What fits a column of 64-bit integers.
Whole = Annotated[int, Meta(ge=-(2**63), le=2**63 - 1)]


class Line(Struct, tag_field="k"):
    """What every line has: when it was written, monotonic ns."""

    t: Whole


class Mark(Line, tag="mark"):
    name: str
    t0: Whole | None = None
    seconds: Whole | None = None
    why: str | None = None
    unanswered: list[str] | None = None
    trouble: str | None = None
    boot: Whole | None = None


class Process(Line, tag="process"):
    who: str
    cpu_ns: Whole | None = None
    rss: Whole | None = None
    fds: Whole | None = None
    fd_limit: Whole | None = None
    throttled_ns: Whole | None = None


class Host(Line, tag="host"):
    cpus: Whole | None = None
    quota_millis: Whole | None = None
    throttled_ns: Whole | None = None
    memory_limit: Whole | None = None
    memory_used: Whole | None = None
    fds: Whole | None = None
    fd_limit: Whole | None = None


class Jump(Line, tag="jump"):
    slept_ns: Whole


class Stop(Line, tag="stop"):
    why: str
    figure: Any = None


Common = Mark | Process | Host | Jump | Stop


class _Kind(Struct):
    k: str


@dataclass
class Reading:
    """What reading came upon."""

    lines: int = 0
    torn: int = 0
    bad: int = 0
    unknown: int = 0
    named: list[str] = field(default_factory=list)

    def refuse(self, why: object) -> None:
        """Counts a line that does not fit: the one read last."""
        self.bad += 1
        if len(self.named) < NAMED:
            self.named.append(f"line {self.lines}: {why}")


def read(path: Path, kinds: types.UnionType, reading: Reading) -> Iterator[Any]:
    """The samples of a file in its order, each one of `kinds` (a union of structs).

    `reading` is filled on the way. OSError as the file gives it.
    """
    decode = msgspec.json.Decoder(kinds).decode
    known = frozenset(str(kind.__struct_config__.tag) for kind in kinds.__args__)
    with path.open("rb") as file:
        for line in file:
            if not line.endswith(b"\n"):
                reading.torn += 1
                return
            reading.lines += 1
            try:
                sample = decode(line)
            except (msgspec.MsgspecError, UnicodeDecodeError) as error:
                _note(reading, known, line, error)
                continue
            yield sample


def _note(reading: Reading, known: frozenset[str], line: bytes, error: Exception) -> None:
    """Kinds that a later version added, or that another kind of run has, are unknown; the rest is bad."""
    try:
        kind = msgspec.json.decode(line, type=_Kind).k
    except (msgspec.MsgspecError, UnicodeDecodeError):
        kind = None
    if kind is not None and kind not in known:
        reading.unknown += 1
        return
    reading.refuse(error)
