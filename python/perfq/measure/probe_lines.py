"""What a client said through the probe, typed. The protocol is docs/reference/probe.md.

The lines are the client's own word and are read with care: one of a known kind that does not fit is
counted as bad; unknown kinds are passed over.
"""

from __future__ import annotations

from typing import Annotated

import msgspec
from msgspec import Meta, Raw, Struct

#: Instants and counts: what fits a column of 64-bit integers and is not negative.
Natural = Annotated[int, Meta(ge=0, le=2**63 - 1)]


class Hello(Struct, tag_field="k", tag="hello"):
    t: Natural
    client: str | None = None
    version: str | None = None
    libraries: dict[str, str] = {}


class Interactive(Struct, tag_field="k", tag="interactive"):
    t: Natural


class ListComplete(Struct, tag_field="k", tag="list_complete"):
    t: Natural
    kind: str = "pods"
    scope: str = ""
    objects: Natural | None = None


class Populated(Struct, tag_field="k", tag="populated"):
    t: Natural
    kind: str = "pods"
    scope: str = ""
    rows: Natural | None = None


class EventReceived(Struct, tag_field="k", tag="event_received"):
    t: Natural
    rv: int | str
    kind: str = "pods"
    scope: str = ""


class Rendered(Struct, tag_field="k", tag="rendered"):
    t: Natural
    rv: int | str
    rows_changed: Natural = 0
    kind: str = "pods"
    scope: str = ""


class Coalesced(Struct, tag_field="k", tag="coalesced"):
    t: Natural
    n: Natural
    kind: str = "pods"
    scope: str = ""


class Dropped(Struct, tag_field="k", tag="dropped"):
    t: Natural
    n: Natural
    kind: str = "pods"
    scope: str = ""


class BacklogDepth(Struct, tag_field="k", tag="backlog"):
    t: Natural
    depth: Natural


class DigestLine(Struct, tag_field="k", tag="digest"):
    t: Natural
    kind: str = "pods"
    store: str | None = None
    table: str | None = None


class Growth(Struct):
    file: str
    line: Natural
    bytes: Natural
    count: int = 0


class Alloc(Struct, tag_field="k", tag="alloc"):
    t: Natural
    seconds: float
    traced_bytes: Natural
    growth: list[Growth] = []


class Lost(Struct, tag_field="k", tag="lost"):
    t: Natural
    n: Natural


Line = (
    Hello
    | Interactive
    | ListComplete
    | Populated
    | EventReceived
    | Rendered
    | Coalesced
    | Dropped
    | BacklogDepth
    | DigestLine
    | Alloc
    | Lost
)

_KNOWN = frozenset(str(kind.__struct_config__.tag) for kind in Line.__args__)
_decode = msgspec.json.Decoder(Line).decode


class _Kind(Struct):
    k: str


def parse(line: Raw) -> Line | None:
    """The line; None for a kind that is not interpreted. ValueError for a known kind that does not fit."""
    try:
        return _decode(line)
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        try:
            kind = msgspec.json.decode(line, type=_Kind).k
        except (msgspec.MsgspecError, UnicodeDecodeError):
            raise ValueError(str(error)) from None
        if kind in _KNOWN:
            raise ValueError(str(error)) from None
        return None


def version_number(rv: int | str) -> int:
    """A resourceVersion as the integer that our server writes. ValueError for any other."""
    number = int(rv)
    if not 0 <= number < 2**63:
        raise ValueError(f"a resourceVersion of our server is below 2^63, got {rv!r}")
    return number
