"""How the harness fared: had it room, was it held back, is its record whole? The same for every kind of run."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from perfq.measure.manifest import Manifest
from perfq.measure.process import cpu_between
from perfq.measure.record import RunRecord
from perfq.measure.samples import Process, Stop

if TYPE_CHECKING:
    from perfq._core import RecorderStatus

#: What happens later than this by the harness's own doing is late, ns.
LATE_NS: Final = 10_000_000
#: A harness, or a thread of it, that is busier than this cannot keep a schedule.
BUSY: Final = 0.85


@dataclass(frozen=True)
class HarnessEvidence:
    """None means: not recorded. Shares are of the drive and of what was allowed."""

    killed: bool
    stop: Stop | None
    harness_cpu_share: float | None
    memory_share: float | None
    harness_fd_share: float | None
    throttled_share: float | None
    slept_ns: int | None
    bad_lines: int
    named_bad_lines: tuple[str, ...]
    lost_lines: int
    recorder_error: str | None


@dataclass(frozen=True)
class Drive:
    """When the load ran (monotonic ns; None: it never began), and whether perfq was killed meanwhile."""

    begin: int | None
    end: int | None
    killed: bool

    def holds(self, t: int) -> bool:
        """Whether an instant lies within."""
        return self.begin is not None and self.end is not None and self.begin <= t <= self.end


def gather_harness(
    record: RunRecord, manifest: Manifest, drive: Drive, recorder: RecorderStatus | None
) -> HarnessEvidence:
    """Reads it off the record; `recorder` is what became of the lines, where the run is still there."""
    harness = record.processes.get("harness", [])
    driven = [one for one in harness if drive.holds(one.t)]
    return HarnessEvidence(
        # Who can still say what became of the lines was not killed: its last mark is one of those lost.
        killed=drive.killed and recorder is None,
        stop=record.stops[0] if record.stops else None,
        harness_cpu_share=_cpu_share(driven, _cpus(record) or manifest.host.cpus_allowed),
        memory_share=_most(_share(one.memory_used, one.memory_limit) for one in record.hosts),
        harness_fd_share=_most(
            [
                *(_share(one.fds, one.fd_limit) for one in harness),
                *(_share(one.fds, one.fd_limit) for one in record.hosts),
            ]
        ),
        throttled_share=_throttled(record, drive),
        slept_ns=_slept(record, manifest),
        bad_lines=record.reading.bad,
        named_bad_lines=tuple(record.reading.named),
        lost_lines=0 if recorder is None else recorder["lost"],
        recorder_error=None if recorder is None else recorder["error"],
    )


def _cpu_share(drive: Sequence[Process], cpus: float | None) -> float | None:
    used = cpu_between(drive, drive[0].t, drive[-1].t) if drive else None
    return None if used is None or not cpus else used / cpus


def _share(part: int | None, whole: int | None) -> float | None:
    return None if part is None or not whole else part / whole


def _most(shares: Iterable[float | None]) -> float | None:
    return max((share for share in shares if share is not None), default=None)


def _cpus(record: RunRecord) -> float | None:
    """The least that affinity and quota left to us at any time."""
    limits = [
        limit
        for one in record.hosts
        for limit in (one.cpus, None if one.quota_millis is None else one.quota_millis / 1000)
        if limit is not None
    ]
    return min(limits, default=None)


def _throttled(record: RunRecord, drive: Drive) -> float | None:
    """Share of the drive in which a CPU quota held our cgroup back."""
    held = [(one.t, one.throttled_ns) for one in record.hosts if one.throttled_ns is not None and drive.holds(one.t)]
    if len(held) < 2 or held[-1][0] == held[0][0]:
        return None
    return (held[-1][1] - held[0][1]) / (held[-1][0] - held[0][0])


def _slept(record: RunRecord, manifest: Manifest) -> int | None:
    """The larger of what the clocks' distance and the sampler say; None where neither was recorded."""
    if not record.boots and not record.hosts:
        return None
    before = manifest.anchor.boot_ns - manifest.anchor.mono_ns
    drift = max(record.boots, default=before) - before
    return max(drift, sum(jump.slept_ns for jump in record.jumps), 0)
