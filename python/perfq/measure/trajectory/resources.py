"""resources.ndjson, folded as it is read: what the sampler did, and the memory of each session over time.

The contract is docs/reference/samples.md. Means are weighted with time: a sample holds until the next one.
"""

from __future__ import annotations

from array import array
from dataclasses import dataclass, field
from pathlib import Path

from msgspec import Struct

from perfq.measure.result.trajectory import PressureNs, Sampling
from perfq.measure.samples import Reading, Whole, read
from perfq.measure.trajectory.tails import tail

FILE = "resources.ndjson"


class Stalled(Struct, frozen=True):
    """A stall total since boot: how long some tasks waited."""

    some_us: Whole | None = None


class Psi(Struct, frozen=True):
    """Of the machine."""

    cpu: Stalled = Stalled()
    memory: Stalled = Stalled()
    io: Stalled = Stalled()


class Start(Struct, tag_field="k", tag="resource_start"):
    """The sampler began."""

    t: Whole
    psi: Psi | None = None


class Sample(Struct, tag_field="k", tag="resource"):
    """One sample of a session."""

    t: Whole
    n: Whole
    queued: Whole
    begin: Whole
    end: Whole
    written: Whole | None = None
    memory: Whole | None = None


class End(Struct, tag_field="k", tag="resource_end"):
    """A session's measurement has ended."""

    t: Whole
    n: Whole
    outcome: str
    due: Whole
    taken: Whole
    longest_gap_ns: Whole
    why: str | None = None


class Close(Struct, tag_field="k", tag="resource_close"):
    """The sampler has ended: its own figures."""

    t: Whole
    errors: Whole
    leaked: Whole
    coverage_ppm: Whole | None = None
    longest_gap_ns: Whole | None = None
    error: str | None = None
    lost: Whole = 0
    psi: Psi | None = None


Line = Start | Sample | End | Close


@dataclass
class Held:
    """A figure over time: the area below it, and its last value."""

    first_t: int
    last_t: int
    last: int
    area: int = 0

    def take(self, t: int, value: int) -> None:
        """The next value; what comes out of order is left out."""
        if t >= self.last_t:
            self.area += self.last * (t - self.last_t)
            self.last_t, self.last = t, value

    @property
    def mean(self) -> int:
        """Weighted with time; of one value, that value."""
        return self.area // (self.last_t - self.first_t) if self.last_t > self.first_t else self.last


@dataclass
class Resources:
    """What stands in the file."""

    reading: Reading = field(default_factory=Reading)
    queue_ns: array[int] = field(default_factory=lambda: array("q"))
    read_ns: array[int] = field(default_factory=lambda: array("q"))
    write_ns: array[int] = field(default_factory=lambda: array("q"))
    memory: dict[int, Held] = field(default_factory=dict)
    ends: dict[int, End] = field(default_factory=dict)
    start: Start | None = None
    close: Close | None = None

    @classmethod
    def load(cls, run_dir: Path) -> Resources | None:
        """None where the run has no such file. OSError as the file gives it."""
        path = run_dir / FILE
        if not path.exists():
            return None
        found = cls()
        for line in read(path, Line, found.reading):
            found._take(line)
        return found

    @property
    def failures(self) -> list[str]:
        """Of each session whose measurement ended with an error, or whose read leaked, why."""
        bad = [one for one in self.ends.values() if one.outcome != "drained"]
        return [f"session {one.n}: {one.outcome}" + (f": {one.why}" if one.why else "") for one in bad]

    def sampling(self) -> Sampling:
        """The sampler's figures; what only its end would say is null where it was killed."""
        close = self.close
        return Sampling(
            samples=len(self.read_ns),
            queue_ns=tail(self.queue_ns),
            read_ns=tail(self.read_ns),
            write_ns=tail(self.write_ns),
            coverage_ppm=None if close is None else close.coverage_ppm,
            longest_gap_ns=None if close is None else close.longest_gap_ns,
            errors=None if close is None else close.errors,
            leaked=None if close is None else close.leaked,
            lost=None if close is None else close.lost,
        )

    def pressure(self) -> PressureNs | None:
        """What was added between the sampler's begin and its end; None where either is not known."""
        if self.start is None or self.start.psi is None or self.close is None or self.close.psi is None:
            return None
        before, after = self.start.psi, self.close.psi
        pairs = {
            name: (getattr(before, name).some_us, getattr(after, name).some_us) for name in ("cpu", "memory", "io")
        }
        return PressureNs(
            **{name: None if None in pair else (pair[1] - pair[0]) * 1000 for name, pair in pairs.items()}
        )

    def memory_mean(self) -> int | None:
        """The mean over sessions of their own means, bytes; None where no sample has any."""
        means = [one.mean for one in self.memory.values()]
        return sum(means) // len(means) if means else None

    def _take(self, line: Line) -> None:
        match line:
            case Sample():
                self.queue_ns.append(line.begin - line.queued)
                self.read_ns.append(line.end - line.begin)
                if line.written is not None:
                    self.write_ns.append(line.written - line.end)
                if line.memory is not None:
                    held = self.memory.get(line.n)
                    if held is None:
                        self.memory[line.n] = Held(line.t, line.t, line.memory)
                    else:
                        held.take(line.t, line.memory)
            case End():
                self.ends[line.n] = line
            case Start():
                self.start = line
            case Close():
                self.close = line
