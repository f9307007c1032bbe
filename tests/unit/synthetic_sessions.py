"""Replayed sessions as the contract describes their record (docs/reference/samples.md), written line by line.

Two waves of four sessions. Each runs a command of 100 ms, waits 500 ms and runs another command; the harness adds 1 ms
to each wait. Tests take such a run and break one thing.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from perfq.measure.fold import fold
from perfq.measure.load.manifest import InputFacts
from perfq.measure.manifest import Anchor, HostFacts, PerfqFacts, TargetFacts
from perfq.measure.trajectory.facts import SessionFacts
from perfq.measure.trajectory.manifest import TrajectoryManifest
from perfq.measure.trajectory.recorded import TrajectoryRecorded
from perfq.profile.budgets import Budget

if TYPE_CHECKING:
    from perfq._core import RecorderStatus

MS = 1_000_000
SECOND = 1_000_000_000
T0 = 1_000 * SECOND
BOOT = 7 * SECOND
PER_WAVE, WAVES = 4, 2
SESSIONS = PER_WAVE * WAVES
#: Of each session: late, init, exec, planned, extra, teardown.
LATE, INIT, EXEC, PLANNED, EXTRA, TEARDOWN = 0, 5 * MS, 200 * MS, 500 * MS, 1 * MS, 4 * MS
#: Made of each session.
AUDITS = ("steps_accounted", "processes_gone")

Line = dict[str, Any]


@dataclass
class SyntheticSessions:
    """Lines and a manifest, to be changed and written."""

    manifest: TrajectoryManifest
    lines: list[Line] = field(default_factory=list)

    def without(self, unwanted: Callable[[Line], bool]) -> SyntheticSessions:
        """The same run without some lines."""
        return replace(self, lines=[line for line in self.lines if not unwanted(line)])

    def changing(self, kind: str, n: int | None = None, **changes: Any) -> SyntheticSessions:
        """The same run with lines of a kind changed: those of one session, or all."""
        lines = [line | changes if line["k"] == kind and n in (None, line.get("n")) else line for line in self.lines]
        return replace(self, lines=lines)

    def adding(self, *lines: Line) -> SyntheticSessions:
        """The same run with more lines."""
        return replace(self, lines=[*self.lines, *lines])

    def budgeted(self, *budgets: Budget) -> SyntheticSessions:
        """The same run, to be judged by these budgets."""
        return replace(self, manifest=self.manifest.replace(budgets=list(budgets)))

    def done(self, **changes: Any) -> SyntheticSessions:
        """The same run, whose sessions were held to something else."""
        facts = self.manifest.sessions.replace(**changes)
        return replace(self, manifest=self.manifest.replace(sessions=facts))

    def write(self, directory: Path) -> Path:
        """Writes manifest and samples into a run directory."""
        directory.mkdir(parents=True, exist_ok=True)
        (directory / "manifest.json").write_text(self.manifest.to_json())
        (directory / "samples.ndjson").write_text("".join(json.dumps(line) + "\n" for line in self.lines))
        return directory


def sessions_of(directory: Path, recorder: RecorderStatus | None = None) -> TrajectoryRecorded:
    """What `fold` gives of the sessions' directory; `recorder` where the run is still there."""
    recorded = fold(directory, recorder=recorder)
    assert isinstance(recorded, TrajectoryRecorded)
    return recorded


def ideal_sessions(run_id: str = "agents-1201-120000-abcd") -> SyntheticSessions:
    """Every figure known, sampling off, nothing missed."""
    run = SyntheticSessions(_manifest(run_id))
    lines = [_line("mark", T0, name="start", boot=BOOT), _line("tj_start", T0)]
    for n in range(SESSIONS):
        lines += session_lines(n, T0 + n // PER_WAVE * 2 * SECOND)
    end = max(line["t"] for line in lines)
    lines.append(
        _line("tj_delay", end, window=0, count=100, p50=MS, p99=3 * MS, max=3 * MS, delays=[MS] * 98 + [3 * MS] * 2)
    )
    for name in ("drive_end", "end"):
        lines.append(_line("mark", end, name=name, boot=BOOT))
    for tick in range(12):
        lines.append(_line("process", T0 + tick * 250 * MS, who="harness", cpu_ns=tick * 20 * MS, rss=50 * 2**20))
        lines.append(_line("host", T0 + tick * 250 * MS, cpus=2, fds=40, fd_limit=1024))
    return replace(run, lines=sorted(lines, key=lambda line: int(line["t"])))


def session_lines(n: int, at: int) -> Iterable[Line]:
    """The lines of one session that is meant to arrive at that instant, and does."""
    ready = at + INIT
    first, waited = ready + EXEC // 2, ready + EXEC // 2 + PLANNED + EXTRA
    last = waited + EXEC // 2
    for t, state in ((at, "queued"), (at, "admitted"), (ready, "running"), (last + TEARDOWN, "done")):
        yield _line("tj_state", t, n=n, state=state)
    for step, begin, end in ((0, ready, first), (2, waited, last)):
        stamps = {"due": begin, "issued": begin, "started": begin, "ended": end, "returned": end}
        yield _line("tj_command", end, n=n, step=step, **stamps, exit_code=0, outcome="done", timeout_ms=30_000)
    yield _line(
        "tj_wait", waited, n=n, step=1, planned=PLANNED, entered=first, sleep_begin=first, due=first + PLANNED,
        woken=first + PLANNED + EXTRA, next_issued=waited,
    )  # fmt: skip
    stamps = {
        "intended": at, "submitted": at, "admitted": at, "launched": at, "ready": ready, "first": ready, "last": last,
        "stopping": last, "stopped": last + TEARDOWN,
    }  # fmt: skip
    terms = {"init": INIT, "exec": EXEC, "planned": PLANNED, "extra": EXTRA, "teardown": TEARDOWN}
    for name in AUDITS:
        yield _line("tj_audit", last + TEARDOWN, n=n, name=name, status="pass", evidence="as it should be")
    ended: Line = {"outcome": "completed", "why": None, "commands": 2, "left": [], "backend": {}}
    yield _line("tj_session", last + TEARDOWN, n=n, id=f"s{n}", **stamps, **terms, **ended)


def _line(kind: str, t: int, **fields: Any) -> Line:
    return {"k": kind, "t": t, **fields}


def _manifest(run_id: str) -> TrajectoryManifest:
    return TrajectoryManifest(
        run_id=run_id,
        command="perfq trajectory run agents.yaml",
        started_at="2026-01-02T03:04:05.000+00:00",
        anchor=Anchor(wall_ns=1_767_323_045 * SECOND, mono_ns=T0 - SECOND, boot_ns=T0 - SECOND + BOOT),
        target=TargetFacts(kind="local"),
        host=HostFacts(
            os="Linux", kernel="6.1", cpu="a CPU", cpu_count=2, cpus_allowed=2.0, memory_bytes=2**33, python="3.12.1"
        ),
        perfq=PerfqFacts(version="0.1.0"),
        input=InputFacts(kind="trajectory profile", name="agents.yaml", sha256="ab" * 32, description="agents"),
        sessions=SessionFacts(
            plan_sha256="cd" * 32,
            work_sha256="ef" * 32,
            sessions=SESSIONS,
            commands=2 * SESSIONS,
            planned_wait_ns=SESSIONS * PLANNED,
            arrivals="waves",
            last_arrival_ns=2 * SECOND,
            timeout_ns=30 * SECOND,
            term_grace_ns=SECOND,
            wait_mode="idle",
            backend="local",
            sampling="off",
            sampling_workers=4,
            sampling_delay_after_ns=500 * MS,
        ),
    )
