"""What every kind of run records beside its own: marks, processes, the host, stops. In memory."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from perfq.measure import samples
from perfq.measure.samples import Reading


@dataclass
class RunRecord:
    """The common part of a record. Lists stand in the order of the file."""

    reading: Reading = field(default_factory=Reading)
    last_t: int | None = None
    marks: dict[str, samples.Mark] = field(default_factory=dict)
    boots: list[int] = field(default_factory=list)
    processes: dict[str, list[samples.Process]] = field(default_factory=dict)
    hosts: list[samples.Host] = field(default_factory=list)
    jumps: list[samples.Jump] = field(default_factory=list)
    stops: list[samples.Stop] = field(default_factory=list)

    def mark(self, name: str) -> int | None:
        """The instant of a mark."""
        mark = self.marks.get(name)
        return None if mark is None else mark.t

    def take_common(self, sample: Any) -> None:
        """Notes the sample's instant, and the sample itself where every kind of run has it."""
        if self.last_t is None or sample.t > self.last_t:
            self.last_t = sample.t
        match sample:
            case samples.Process():
                self.processes.setdefault(sample.who, []).append(sample)
            case samples.Mark():
                self.marks[sample.name] = sample
                if sample.boot is not None:
                    self.boots.append(sample.boot)
            case samples.Host():
                self.hosts.append(sample)
            case samples.Jump():
                self.jumps.append(sample)
            case samples.Stop():
                self.stops.append(sample)

    def in_order(self) -> None:
        """Sorts what threads of their own recorded, once all is read."""
        for process in self.processes.values():
            process.sort(key=lambda one: one.t)
