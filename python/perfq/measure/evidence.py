"""What judging a run's validity looks at, beside the figures of the result."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from perfq.measure.gaps import missed_events
from perfq.measure.manifest import Manifest
from perfq.measure.process import cpu_between
from perfq.measure.recording import Recording
from perfq.measure.rendering import client_counts
from perfq.measure.samples import Process, Stop

if TYPE_CHECKING:
    from perfq._core import RecorderStatus


@dataclass(frozen=True)
class Evidence:
    """None means: not recorded."""

    killed: bool
    stop: Stop | None
    churn_began: bool
    churn_ended: bool
    not_ready: str | None
    harness_cpu_share: float | None
    memory_share: float | None
    harness_fd_share: float | None
    throttled_share: float | None
    slept_ns: int | None
    missed_events: int
    torn_lines: int
    bad_lines: int
    named_bad_lines: tuple[str, ...]
    lost_lines: int
    recorder_error: str | None
    received: int | None
    probe_lines: int
    probe_bad_lines: int
    probe_lost_lines: int


def gather(recording: Recording, manifest: Manifest, recorder: RecorderStatus | None) -> Evidence:
    """Reads it off the record; `recorder` is what became of the lines, where the run is still there."""
    t0, end = recording.t0, recording.mark("churn_end") or recording.last_t
    counts = client_counts(recording)
    harness = recording.processes.get("harness", [])
    drive = [] if t0 is None or end is None else [one for one in harness if t0 <= one.t <= end]
    return Evidence(
        killed=recording.killed,
        stop=recording.stops[0] if recording.stops else None,
        churn_began=t0 is not None,
        churn_ended=recording.mark("churn_end") is not None,
        not_ready=_not_ready(recording) if t0 is None else None,
        harness_cpu_share=_cpu_share(drive, _cpus(recording) or manifest.host.cpus_allowed),
        memory_share=_most(_share(one.memory_used, one.memory_limit) for one in recording.hosts),
        harness_fd_share=_most(
            [
                *(_share(one.fds, one.fd_limit) for one in harness),
                *(_share(one.fds, one.fd_limit) for one in recording.hosts),
            ]
        ),
        throttled_share=_throttled(recording, t0, end),
        slept_ns=_slept(recording, manifest),
        missed_events=missed_events(recording),
        torn_lines=recording.reading.torn,
        bad_lines=recording.reading.bad,
        named_bad_lines=tuple(recording.reading.named),
        lost_lines=0 if recorder is None else recorder["lost"],
        recorder_error=None if recorder is None else recorder["error"],
        received=None if counts is None else counts.received,
        probe_lines=recording.probe.lines,
        probe_bad_lines=recording.probe.bad,
        probe_lost_lines=recording.probe.lost,
    )


def exit_text(code: int | None, signal: int | None) -> str:
    """`exit code 1`, `killed by signal 11`."""
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


def _cpu_share(drive: list[Process], cpus: float | None) -> float | None:
    used = cpu_between(drive, drive[0].t, drive[-1].t) if drive else None
    return None if used is None or not cpus else used / cpus


def _share(part: int | None, whole: int | None) -> float | None:
    return None if part is None or not whole else part / whole


def _most(shares: Iterable[float | None]) -> float | None:
    return max((share for share in shares if share is not None), default=None)


def _cpus(recording: Recording) -> float | None:
    """The least that affinity and quota left to us at any time."""
    limits = [
        limit
        for one in recording.hosts
        for limit in (one.cpus, None if one.quota_millis is None else one.quota_millis / 1000)
        if limit is not None
    ]
    return min(limits, default=None)


def _throttled(recording: Recording, t0: int | None, end: int | None) -> float | None:
    """Share of the drive in which a CPU quota held our cgroup back."""
    if t0 is None or end is None:
        return None
    drive = [
        (one.t, one.throttled_ns) for one in recording.hosts if one.throttled_ns is not None and t0 <= one.t <= end
    ]
    if len(drive) < 2 or drive[-1][0] == drive[0][0]:
        return None
    return (drive[-1][1] - drive[0][1]) / (drive[-1][0] - drive[0][0])


def _slept(recording: Recording, manifest: Manifest) -> int | None:
    """The larger of what the clocks' distance and the sampler say; None where neither was recorded."""
    if not recording.boots and not recording.hosts:
        return None
    before = manifest.anchor.boot_ns - manifest.anchor.mono_ns
    drift = max(recording.boots, default=before) - before
    return max(drift, sum(jump.slept_ns for jump in recording.jumps), 0)
