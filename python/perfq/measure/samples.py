"""samples.ndjson, read as typed records. The contract is docs/reference/samples.md.

A killed run may leave a torn last line: it is left out and counted. Any other line that does not fit
is left out and counted too, with the first few named, since a run whose record has holes proves less.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

import msgspec
from msgspec import Meta, Raw, Struct

#: How many bad lines are named; all are counted.
NAMED = 5


#: What fits a column of 64-bit integers.
Whole = Annotated[int, Meta(ge=-(2**63), le=2**63 - 1)]


class Mark(Struct, tag_field="k", tag="mark"):
    t: Whole
    name: str
    t0: Whole | None = None
    seconds: Whole | None = None
    why: str | None = None
    unanswered: list[str] | None = None
    boot: Whole | None = None


class Commit(Struct, tag_field="k", tag="commit"):
    t: Whole
    src: str
    rv: Whole
    ns: str
    name: str
    type: str
    due: Whole | None = None
    seq: Whole | None = None
    restarts: Whole | None = None


class Skip(Struct, tag_field="k", tag="skip"):
    t: Whole
    ns: str
    name: str
    due: Whole | None = None
    seq: Whole | None = None
    why: str | None = None


class Written(Struct, tag_field="k", tag="written"):
    t: Whole
    w: Whole
    rvs: list[Whole]


class Watch(Struct, tag_field="k", tag="watch"):
    t: Whole
    w: Whole
    ev: str
    group: str = ""
    kind: str = ""
    scope: str = ""
    selector: bool = False
    ua: str | None = None
    conn: Any = None
    why: str | None = None
    events: Whole | None = None
    bytes: Whole | None = None


class Request(Struct, tag_field="k", tag="req"):
    t: Whole
    done: Whole
    verb: str
    status: Whole
    group: str = ""
    kind: str = ""
    scope: str = ""
    name: str | None = None
    sub: str | None = None
    klass: str = msgspec.field(name="class", default="api")
    bytes: Whole | None = None
    objects: Whole | None = None
    page: Whole | None = None
    more: bool | None = None
    retry_after: float | None = None
    ua: str | None = None
    conn: Any = None

    @property
    def first_page(self) -> bool:
        """A chain of continue pages is one LIST: its first page stands for it."""
        return self.page is None or self.page <= 1


class Fault(Struct, tag_field="k", tag="fault"):
    t: Whole
    kind: str
    ev: str
    detail: Any = None


class ProbeLine(Struct, tag_field="k", tag="probe"):
    t: Whole
    m: Raw


class ProbeBad(Struct, tag_field="k", tag="probe_bad"):
    t: Whole
    why: str
    bytes: Whole | None = None


class Screen(Struct, tag_field="k", tag="screen"):
    t: Whole
    ev: str
    rows: Whole | None = None


class Cell(Struct, tag_field="k", tag="cell"):
    t: Whole
    i: Whole
    number: Whole | str | None = None


class ProbeEnd(Struct, tag_field="k", tag="probe_end"):
    t: Whole
    i: Whole
    outcome: str
    ns: str | None = None
    name: str | None = None


class Input(Struct, tag_field="k", tag="input"):
    t: Whole
    pair: Whole
    key: str
    outcome: str
    seen: Whole | None = None


class Term(Struct, tag_field="k", tag="term"):
    t: Whole
    bytes: Whole
    chunks: Whole
    frames: Whole
    redraws: Whole
    sync_timeouts: Whole = 0


class Resize(Struct, tag_field="k", tag="resize"):
    t: Whole
    cols: Whole
    rows: Whole
    filled: Whole | None = None


class Exit(Struct, tag_field="k", tag="exit"):
    t: Whole
    code: Whole | None = None
    signal: Whole | None = None


class Process(Struct, tag_field="k", tag="process"):
    t: Whole
    who: str
    cpu_ns: Whole | None = None
    rss: Whole | None = None
    procs: Whole | None = None
    fds: Whole | None = None
    fd_limit: Whole | None = None
    throttled_ns: Whole | None = None


class Host(Struct, tag_field="k", tag="host"):
    t: Whole
    cpus: Whole | None = None
    quota_millis: Whole | None = None
    throttled_ns: Whole | None = None
    memory_limit: Whole | None = None
    memory_used: Whole | None = None
    fds: Whole | None = None
    fd_limit: Whole | None = None


class Jump(Struct, tag_field="k", tag="jump"):
    t: Whole
    slept_ns: Whole


class Scenario(Struct, tag_field="k", tag="scenario"):
    t: Whole
    name: str
    ok: bool
    screen: str | None = None
    done: Whole | None = None


class Stop(Struct, tag_field="k", tag="stop"):
    t: Whole
    why: str
    figure: Any = None


class PathTotals(Struct):
    path: str
    verb: str
    requests: Whole
    statuses: dict[str, Whole] = {}
    bytes: Whole = 0


class Totals(Struct):
    operations: list[PathTotals] = []


class ApiTotals(Struct, tag_field="k", tag="api"):
    t: Whole
    totals: Totals


Sample = (
    Mark
    | Commit
    | Skip
    | Written
    | Watch
    | Request
    | Fault
    | ProbeLine
    | ProbeBad
    | Screen
    | Cell
    | ProbeEnd
    | Input
    | Term
    | Resize
    | Exit
    | Process
    | Host
    | Jump
    | Scenario
    | Stop
    | ApiTotals
)


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


_KNOWN = frozenset(str(kind.__struct_config__.tag) for kind in Sample.__args__)


def read(path: Path, reading: Reading) -> Iterator[Sample]:
    """The samples of a file in its order; `reading` is filled on the way. OSError as the file gives it."""
    decode = msgspec.json.Decoder(Sample).decode
    with path.open("rb") as file:
        for line in file:
            if not line.endswith(b"\n"):
                reading.torn += 1
                return
            reading.lines += 1
            try:
                sample = decode(line)
            except (msgspec.MsgspecError, UnicodeDecodeError) as error:
                _note(reading, line, error)
                continue
            yield sample


def _note(reading: Reading, line: bytes, error: Exception) -> None:
    """Kinds that a later version added are unknown; the rest is bad."""
    try:
        kind = msgspec.json.decode(line, type=_Kind).k
    except (msgspec.MsgspecError, UnicodeDecodeError):
        kind = None
    if kind is not None and kind not in _KNOWN:
        reading.unknown += 1
        return
    reading.bad += 1
    if len(reading.named) < NAMED:
        reading.named.append(f"line {reading.lines}: {error}")
