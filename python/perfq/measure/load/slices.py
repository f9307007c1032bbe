"""Series over time, in few slices that are as long as the load is; of each series one alone is held as a histogram.

How long a slice is has to be known before the first is filled: the record is looked through for that once. So what is
held does not grow with the load, however long it was.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import msgspec

from perfq._core import Histogram
from perfq.measure.phases import SECOND

#: A series is told in at most so many slices of time; they are longer the longer the load is.
MOST_SLICES: Final = 60


@dataclass(frozen=True, slots=True)
class Slice:
    """A stretch of time of a series; latencies (response, or service in a closed loop) in ns."""

    count: int
    errors: int
    p50: int | None
    p99: int | None
    max: int | None


@dataclass(slots=True)
class _Filling:
    number: int
    errors: int = 0
    latency: Histogram = field(default_factory=Histogram)

    def closed(self) -> Slice:
        known = self.latency.figures()
        return Slice(known["count"], self.errors, known["p50"], known["p99"], known["max"])


class Slices:
    """The slices of all series, filled in the order of time."""

    def __init__(self, seconds: int = 1) -> None:
        #: How long each is.
        self.seconds: Final = seconds
        self._latest = 0
        self._closed: dict[str, dict[int, Slice]] = {}
        self._filling: dict[str, _Filling] = {}

    def at(self, second: int) -> int:
        """The number of the slice that a second of the load lies in. ValueError for one before the last that came."""
        number = second // self.seconds
        if number < self._latest:
            raise ValueError(f"second {second} of the load comes after second {self._latest * self.seconds}")
        self._latest = number
        return number

    def add(self, key: str, number: int, errors: int, latency: Histogram) -> None:
        """Takes in what became of a series in one second of a slice."""
        filling = self._filling.get(key)
        if filling is None or filling.number != number:
            if filling is not None:
                self._closed.setdefault(key, {})[filling.number] = filling.closed()
            filling = self._filling[key] = _Filling(number)
        filling.errors += errors
        filling.latency.merge(latency)

    def of(self, key: str) -> Iterator[tuple[int, Slice]]:
        """Those of one series in order, each with the second at which it begins."""
        for number, one in self._closed.get(key, {}).items():
            yield number * self.seconds, one
        filling = self._filling.get(key)
        if filling is not None:
            yield filling.number * self.seconds, filling.closed()


class _Begun(msgspec.Struct, tag_field="k", tag="load_segment"):
    segment: int
    t0: int


class _Told(msgspec.Struct, tag_field="k", tag="load_slice"):
    segment: int
    t: int


def slice_seconds(path: Path, warming_up: Collection[int]) -> int:
    """How long the slices of a record are: a power of two, the least that makes few enough. OSError.

    A second begins where the one before it ended, both counted from the first T0; segments that warm up are left out.
    Lines that cannot be read are passed over here: whoever reads the whole record names them.
    """
    decode = msgspec.json.Decoder(_Begun | _Told).decode
    started: dict[int, int] = {}
    ended: dict[int, int] = {}
    last = 0
    with path.open("rb") as file:
        for line in file:
            try:
                one = decode(line)
            except (msgspec.MsgspecError, UnicodeDecodeError):
                continue
            if one.segment in warming_up:
                continue
            if isinstance(one, _Begun):
                started[one.segment] = ended[one.segment] = one.t0
            elif one.segment in started:
                last = max(last, ended[one.segment] - min(started.values()))
                ended[one.segment] = max(ended[one.segment], one.t)
    seconds = 1
    while last // SECOND // seconds >= MOST_SLICES:
        seconds *= 2
    return seconds
