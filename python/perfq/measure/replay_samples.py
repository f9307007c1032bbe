"""What only a replay records. The contract is docs/reference/samples.md."""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import Raw, Struct

from perfq.measure.samples import Common, Line, Whole


class Commit(Line, tag="commit"):
    src: str
    rv: Whole
    ns: str
    name: str
    type: str
    due: Whole | None = None
    seq: Whole | None = None
    restarts: Whole | None = None


class Skip(Line, tag="skip"):
    ns: str
    name: str
    due: Whole | None = None
    seq: Whole | None = None
    why: str | None = None


class Written(Line, tag="written"):
    w: Whole
    rvs: list[Whole]


class Watch(Line, tag="watch"):
    w: Whole
    ev: str
    group: str = ""
    kind: str = ""
    scope: str = ""
    selector: bool = False
    why: str | None = None
    events: Whole | None = None
    bytes: Whole | None = None


class Request(Line, tag="req"):
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

    @property
    def first_page(self) -> bool:
        """A chain of continue pages is one LIST: its first page stands for it."""
        return self.page is None or self.page <= 1


class Fault(Line, tag="fault"):
    kind: str
    ev: str
    detail: Any = None


class ProbeLine(Line, tag="probe"):
    m: Raw


class ProbeBad(Line, tag="probe_bad"):
    why: str
    bytes: Whole | None = None


class Screen(Line, tag="screen"):
    ev: str
    rows: Whole | None = None


class Cell(Line, tag="cell"):
    i: Whole
    number: Whole | str | None = None


class ProbeEnd(Line, tag="probe_end"):
    i: Whole
    outcome: str
    ns: str | None = None
    name: str | None = None


class Input(Line, tag="input"):
    pair: Whole
    key: str
    outcome: str
    seen: Whole | None = None


class Term(Line, tag="term"):
    bytes: Whole
    chunks: Whole
    frames: Whole
    redraws: Whole
    sync_timeouts: Whole = 0


class Resize(Line, tag="resize"):
    cols: Whole
    rows: Whole
    filled: Whole | None = None


class Exit(Line, tag="exit"):
    code: Whole | None = None
    signal: Whole | None = None


class Scenario(Line, tag="scenario"):
    name: str
    ok: bool
    screen: str | None = None
    done: Whole | None = None


class PathTotals(Struct):
    path: str
    verb: str
    requests: Whole
    statuses: dict[str, Whole] = {}
    bytes: Whole = 0


class Totals(Struct):
    operations: list[PathTotals] = []


class ApiTotals(Line, tag="api"):
    totals: Totals


Sample = (
    Common
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
    | Scenario
    | ApiTotals
)
