"""The record of replayed sessions, in memory."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from perfq.measure.record import RunRecord
from perfq.measure.samples import read
from perfq.measure.trajectory import samples


@dataclass
class TrajectoryRecording(RunRecord):
    """One run. Sessions by their number; those that have not ended (the run was killed) are missing in `sessions`."""

    t0: int | None = None
    sessions: dict[int, samples.Session] = field(default_factory=dict)
    states: list[samples.State] = field(default_factory=list)
    commands: list[samples.Command] = field(default_factory=list)
    waits: list[samples.Wait] = field(default_factory=list)
    delays: list[samples.Delay] = field(default_factory=list)
    audits: list[samples.Audit] = field(default_factory=list)
    counters: list[samples.Counters] = field(default_factory=list)
    notes: list[samples.Note] = field(default_factory=list)

    @classmethod
    def load(cls, path: Path) -> TrajectoryRecording:
        """Reads samples.ndjson. OSError as the file gives it."""
        recording = cls()
        for sample in read(path, samples.Sample, recording.reading):
            recording._take(sample)
        recording.in_order()
        return recording

    @property
    def killed(self) -> bool:
        """Whether perfq itself was ended before it had ended the sessions."""
        return "end" not in self.marks

    @property
    def started(self) -> list[samples.Session]:
        """The sessions that were admitted and have ended, in their order."""
        return [one for _, one in sorted(self.sessions.items()) if one.admitted is not None]

    @property
    def ended(self) -> list[samples.Session]:
        """Those of them that came to an end of their own."""
        return [one for one in self.started if one.outcome != "cancelled"]

    def _take(self, sample: samples.Sample) -> None:
        if isinstance(sample, samples.Session) and sample.t is None:
            self.reading.refuse(f"session {sample.n} has no instant of its end")
            return
        self.take_common(sample)
        match sample:
            case samples.Start():
                self.t0 = sample.t
            case samples.Note():
                self.notes.append(sample)
            case samples.Session():
                self.sessions[sample.n] = sample
            case samples.State():
                self.states.append(sample)
            case samples.Command():
                self.commands.append(sample)
            case samples.Wait():
                self.waits.append(sample)
            case samples.Delay():
                self.delays.append(sample)
            case samples.Audit():
                self.audits.append(sample)
            case samples.Counters():
                self.counters.append(sample)
