"""What judging a run's validity looks at, beside the figures of the result."""

from __future__ import annotations

from dataclasses import dataclass

from perfq._core import RecorderStatus
from perfq.measure.gaps import missed_events
from perfq.measure.manifest import Manifest
from perfq.measure.process import cpu_between
from perfq.measure.recording import Recording
from perfq.measure.samples import Process, Stop


@dataclass(frozen=True)
class Evidence:
    """None means: not recorded."""

    killed: bool
    stop: Stop | None
    churn_began: bool
    churn_ended: bool
    exit_before_churn: str | None
    harness_cpu_share: float | None
    harness_memory_share: float | None
    harness_fd_share: float | None
    throttled_ns: int | None
    slept_ns: int | None
    missed_events: int
    torn_lines: int
    bad_lines: int
    named_bad_lines: tuple[str, ...]
    lost_lines: int
    recorder_error: str | None
    probe_lines: int
    probe_bad_lines: int
    probe_lost_lines: int


def gather(recording: Recording, manifest: Manifest, recorder: RecorderStatus | None) -> Evidence:
    """Reads it off the record; `recorder` is what became of the lines, where the run is still there."""
    t0, end = recording.t0, recording.mark("churn_end") or recording.last_t
    harness = recording.processes.get("harness", [])
    drive = [] if t0 is None or end is None else [one for one in harness if t0 <= one.t <= end]
    return Evidence(
        killed=recording.killed,
        stop=recording.stops[0] if recording.stops else None,
        churn_began=t0 is not None,
        churn_ended=recording.mark("churn_end") is not None,
        exit_before_churn=_exit_text(recording) if t0 is None else None,
        harness_cpu_share=_cpu_share(drive, manifest.host.cpus_allowed),
        harness_memory_share=_share(
            max((one.rss for one in harness if one.rss is not None), default=None), manifest.host.memory_bytes
        ),
        harness_fd_share=max(
            (share for one in harness if (share := _share(one.fds, one.fd_limit)) is not None), default=None
        ),
        throttled_ns=_grown([one.throttled_ns for one in drive if one.throttled_ns is not None]),
        slept_ns=_slept(recording, manifest),
        missed_events=missed_events(recording),
        torn_lines=recording.reading.torn,
        bad_lines=recording.reading.bad,
        named_bad_lines=tuple(recording.reading.named),
        lost_lines=0 if recorder is None else recorder["lost"],
        recorder_error=None if recorder is None else recorder["error"],
        probe_lines=recording.probe.lines,
        probe_bad_lines=recording.probe.bad,
        probe_lost_lines=recording.probe.lost,
    )


def exit_text(code: int | None, signal: int | None) -> str:
    """`exit code 1`, `killed by signal 11`."""
    return f"killed by signal {signal}" if signal is not None else f"exit code {code}"


def _exit_text(recording: Recording) -> str | None:
    stopping = recording.mark("stopping")
    for one in recording.exits:
        if stopping is None or one.t < stopping:
            return exit_text(one.code, one.signal)
    return None


def _cpu_share(drive: list[Process], cpus: float | None) -> float | None:
    used = cpu_between(drive, drive[0].t, drive[-1].t) if drive else None
    return None if used is None or not cpus else used / cpus


def _share(part: int | None, whole: int | None) -> float | None:
    return None if part is None or not whole else part / whole


def _grown(values: list[int]) -> int | None:
    return values[-1] - values[0] if values else None


def _slept(recording: Recording, manifest: Manifest) -> int | None:
    if not recording.boots:
        return None
    before = manifest.anchor.boot_ns - manifest.anchor.mono_ns
    return max(max(recording.boots) - before, 0)
