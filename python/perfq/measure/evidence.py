"""What judging a replay's validity looks at, beside the figures of the result."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from perfq.measure.gaps import missed_events
from perfq.measure.harness import Drive, HarnessEvidence, gather_harness
from perfq.measure.recording import Recording
from perfq.measure.rendering import client_counts
from perfq.measure.replay_manifest import ReplayManifest

if TYPE_CHECKING:
    from perfq._core import RecorderStatus


@dataclass(frozen=True)
class Evidence(HarnessEvidence):
    """None means: not recorded."""

    churn_began: bool
    not_ready: str | None
    missed_events: int
    terminal_trouble: str | None
    received: int | None
    probe_lines: int
    probe_bad_lines: int
    probe_lost_lines: int


def gather(recording: Recording, manifest: ReplayManifest, recorder: RecorderStatus | None) -> Evidence:
    """Reads it off the record; `recorder` is what became of the lines, where the run is still there."""
    drive = Drive(recording.t0, recording.mark("churn_end") or recording.last_t, recording.killed)
    counts, stopped = client_counts(recording), recording.marks.get("client_stopped")
    return Evidence(
        **vars(gather_harness(recording, manifest, drive, recorder)),
        churn_began=recording.t0 is not None,
        not_ready=_not_ready(recording) if recording.t0 is None else None,
        missed_events=missed_events(recording),
        terminal_trouble=None if stopped is None else stopped.trouble,
        received=None if counts is None else counts.received,
        probe_lines=recording.probe.lines,
        probe_bad_lines=recording.probe.bad,
        probe_lost_lines=recording.probe.lost,
    )


def exit_text(code: int | None, signal: int | None) -> str:
    """`exit code 1`, `killed by signal 11`; both None: nobody saw it."""
    if code is None and signal is None:
        return "how it ended is not known"
    return f"killed by signal {signal}" if signal is not None else f"exit code {code}"


def _not_ready(recording: Recording) -> str:
    """Why churn never began: the driver's word, else how the client ended, else that it did not get there."""
    mark = recording.marks.get("not_ready")
    if mark is not None and mark.why is not None:
        return mark.why
    stopping = recording.mark("stopping")
    for one in recording.exits:
        if stopping is None or one.t < stopping:
            return f"it ended before it was ready ({exit_text(one.code, one.signal)})"
    return "it was never ready"
