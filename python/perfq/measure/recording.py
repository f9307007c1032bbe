"""Everything that a replay recorded, in memory: columns for what comes by the million, lists for the rest."""

from __future__ import annotations

from array import array
from dataclasses import dataclass, field
from pathlib import Path

from perfq.measure import probe_lines
from perfq.measure import replay_samples as samples
from perfq.measure.commits import Commits
from perfq.measure.record import RunRecord
from perfq.measure.samples import read

Scope = tuple[str, str]


@dataclass
class Writes:
    """What was written to one watcher: resourceVersion and the instant its write returned."""

    rv: array[int] = field(default_factory=lambda: array("q"))
    t: array[int] = field(default_factory=lambda: array("q"))


@dataclass
class Rendering:
    """What the client said of one (kind, scope)."""

    received_rv: array[int] = field(default_factory=lambda: array("q"))
    received_t: array[int] = field(default_factory=lambda: array("q"))
    rendered_rv: array[int] = field(default_factory=lambda: array("q"))
    rendered_t: array[int] = field(default_factory=lambda: array("q"))
    rendered_rows: array[int] = field(default_factory=lambda: array("q"))
    coalesced: list[tuple[int, int]] = field(default_factory=list)
    dropped: list[tuple[int, int]] = field(default_factory=list)


@dataclass
class ProbeRecord:
    """What the client said through the probe."""

    hello: probe_lines.Hello | None = None
    interactive: int | None = None
    lists: list[probe_lines.ListComplete] = field(default_factory=list)
    populated: list[probe_lines.Populated] = field(default_factory=list)
    scopes: dict[Scope, Rendering] = field(default_factory=dict)
    digests: list[probe_lines.DigestLine] = field(default_factory=list)
    alloc: probe_lines.Alloc | None = None
    lines: int = 0
    bad: int = 0
    lost: int = 0


@dataclass
class Recording(RunRecord):
    """The record of one replay. Lists stand in the order of the file."""

    commits: Commits = field(default_factory=Commits)
    skips: list[samples.Skip] = field(default_factory=list)
    written: dict[int, Writes] = field(default_factory=dict)
    watch_opens: dict[int, samples.Watch] = field(default_factory=dict)
    watch_ends: dict[int, samples.Watch] = field(default_factory=dict)
    requests: list[samples.Request] = field(default_factory=list)
    faults: list[samples.Fault] = field(default_factory=list)
    probe: ProbeRecord = field(default_factory=ProbeRecord)
    screens: list[samples.Screen] = field(default_factory=list)
    cells: dict[int, samples.Cell] = field(default_factory=dict)
    probe_ends: list[samples.ProbeEnd] = field(default_factory=list)
    inputs: list[samples.Input] = field(default_factory=list)
    terms: list[samples.Term] = field(default_factory=list)
    resizes: list[samples.Resize] = field(default_factory=list)
    exits: list[samples.Exit] = field(default_factory=list)
    scenarios: list[samples.Scenario] = field(default_factory=list)
    totals: samples.Totals | None = None

    @classmethod
    def load(cls, path: Path) -> Recording:
        """Reads samples.ndjson whole. OSError as the file gives it."""
        recording = cls()
        for sample in read(path, samples.Sample, recording.reading):
            recording._take(sample)
        recording.commits.finish()
        recording.in_order()
        recording.requests.sort(key=lambda one: one.t)
        return recording

    @property
    def t0(self) -> int | None:
        """When churn began: the instant that the plan counts from."""
        start = self.marks.get("churn_start")
        return None if start is None else start.t0 if start.t0 is not None else start.t

    @property
    def extended_seconds(self) -> int:
        """By how many whole seconds the plan was extended."""
        mark = self.marks.get("extended")
        return 0 if mark is None or mark.seconds is None else mark.seconds

    def in_scenario(self, t: int) -> bool:
        """Whether a scenario was under way: what a client asks for then was asked of it."""
        return any(one.t <= t <= (one.t if one.done is None else one.done) for one in self.scenarios)

    @property
    def killed(self) -> bool:
        """Whether perfq itself was ended before it had ended the client."""
        return "client_stopped" not in self.marks

    def _take(self, sample: samples.Sample) -> None:  # noqa: PLR0912 - one arm a kind
        self.take_common(sample)
        match sample:
            case samples.Commit():
                self.commits.add(sample)
            case samples.Written():
                writes = self.written.setdefault(sample.w, Writes())
                for rv in sample.rvs:
                    writes.rv.append(rv)
                    writes.t.append(sample.t)
            case samples.ProbeLine():
                self._take_line(sample)
            case samples.Request():
                self.requests.append(sample)
            case samples.Watch():
                (self.watch_opens if sample.ev == "open" else self.watch_ends)[sample.w] = sample
            case samples.Cell():
                self.cells.setdefault(sample.i, sample)
            case samples.Skip():
                self.skips.append(sample)
            case samples.Fault():
                self.faults.append(sample)
            case samples.ProbeBad():
                self.probe.bad += 1
            case samples.Screen():
                self.screens.append(sample)
            case samples.ProbeEnd():
                self.probe_ends.append(sample)
            case samples.Input():
                self.inputs.append(sample)
            case samples.Term():
                self.terms.append(sample)
            case samples.Resize():
                self.resizes.append(sample)
            case samples.Exit():
                self.exits.append(sample)
            case samples.Scenario():
                self.scenarios.append(sample)
            case samples.ApiTotals():
                self.totals = sample.totals

    def _take_line(self, sample: samples.ProbeLine) -> None:
        probe = self.probe
        probe.lines += 1
        try:
            line = probe_lines.parse(sample.m)
            match line:
                case probe_lines.EventReceived():
                    scope = self._scope(line.kind, line.scope)
                    scope.received_rv.append(probe_lines.version_number(line.rv))
                    scope.received_t.append(line.t)
                case probe_lines.Rendered():
                    scope = self._scope(line.kind, line.scope)
                    scope.rendered_rv.append(probe_lines.version_number(line.rv))
                    scope.rendered_t.append(line.t)
                    scope.rendered_rows.append(line.rows_changed)
                case probe_lines.Coalesced():
                    self._scope(line.kind, line.scope).coalesced.append((line.t, line.n))
                case probe_lines.Dropped():
                    self._scope(line.kind, line.scope).dropped.append((line.t, line.n))
                case probe_lines.DigestLine():
                    probe.digests.append(line)
                case probe_lines.Alloc():
                    probe.alloc = line
                case probe_lines.Populated():
                    probe.populated.append(line)
                case probe_lines.ListComplete():
                    probe.lists.append(line)
                case probe_lines.Hello():
                    probe.hello = probe.hello or line
                case probe_lines.Interactive():
                    probe.interactive = line.t if probe.interactive is None else probe.interactive
                case probe_lines.Lost():
                    probe.lost += line.n
        except ValueError:
            probe.bad += 1

    def _scope(self, kind: str, scope: str) -> Rendering:
        return self.probe.scopes.setdefault((kind, scope), Rendering())
