"""The table of replayed sessions: the same rows in Markdown, on a terminal, and side by side for several runs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from perfq.measure.wording import UNKNOWN, amount, duration, number, size, yes

if TYPE_CHECKING:
    from perfq.measure.result.trajectory import Tail, Trajectory


def session_rows(one: Trajectory) -> list[tuple[str, str]]:
    """Each figure with its name; a dash for what is not known."""
    sessions, commands, audits = one.sessions, one.commands, one.audits
    queue, memory = one.queue_ns, one.memory_bytes
    return [
        ("makespan", duration(one.makespan_ns)),
        ("extra wait a session (the harness's own)", _spread(one.extra_wait_ns.mean, one.extra_wait_ns.max)),
        ("initialization", _spread(one.init_ns.mean, one.init_ns.max)),
        ("admission queue, for memory", _spread(queue.memory, queue.memory_max)),
        ("admission queue, for the launch rate", _spread(queue.launch, queue.launch_max)),
        ("peak concurrency", number(one.peak_concurrency)),
        ("memory of a session, mean", size(memory.mean)),
        ("memory of a session, peak", size(memory.peak)),
        ("memory of all sessions, peak", size(memory.total_peak)),
        ("CPU", UNKNOWN if one.cpu_seconds is None else f"{one.cpu_seconds:,.4g} core-seconds"),
        ("execution a session, mean", duration(one.exec_ns_mean)),
        ("timeouts", f"{number(one.timeouts.cleaned)} cleaned, {number(one.timeouts.uncleaned)} uncleaned"),
        (
            "sessions completed",
            _of(sessions.completed, sessions.planned, failed=sessions.failed, cancelled=sessions.cancelled)
            + (f", {number(sessions.unfinished)} not seen to end" if sessions.unfinished else ""),
        ),
        (
            "commands completed",
            _of(commands.completed, commands.planned, failed=commands.failed, unknown=commands.unknown)
            + (f", {number(commands.not_issued)} not issued" if commands.not_issued else ""),
        ),
        (
            "audits passed",
            _of(audits.passed, audits.passed + audits.failed + audits.unknown, failed=audits.failed)
            + (f", {number(audits.unknown)} unknown" if audits.unknown else ""),
        ),
        ("samples", _sampling(one)),
        ("sample read, p50 / p99 / max", UNKNOWN if one.sampling is None else _tail(one.sampling.read_ns)),
        ("sample queue, p50 / p99 / max", UNKNOWN if one.sampling is None else _tail(one.sampling.queue_ns)),
        ("stalled for CPU / memory / IO (the machine)", _pressure(one)),
        ("scheduler delay, p50 / p99 / max", _tail(one.scheduler_delay_ns)),
        ("arrival lateness, p50 / p99 / max", _tail(one.arrival_late_ns)),
        ("time accounted for", _identity(one)),
    ]


def wait_rows(one: Trajectory) -> Sequence[Sequence[str]]:
    """Where the extra wait comes from: p50, p99 and maximum of each part over all waits."""
    waits = one.waits
    parts = [
        ("timer lateness", waits.lateness_ns),
        ("pause", waits.pause_ns),
        ("resume", waits.resume_ns),
        ("to the next step", waits.residual_ns),
    ]
    return [[name, duration(at.p50), duration(at.p99), duration(at.max)] for name, at in parts if at.max is not None]


def _spread(mean: int | None, worst: int | None) -> str:
    return UNKNOWN if worst is None else f"mean {duration(mean)}, worst {duration(worst)}"


def _identity(one: Trajectory) -> str:
    identity = one.identity
    return (
        UNKNOWN if identity.closed is None else f"{yes(identity.closed)}, open by {duration(identity.worst_ns)} at most"
    )


def _tail(one: Tail) -> str:
    return UNKNOWN if one.max is None else f"{duration(one.p50)} / {duration(one.p99)} / {duration(one.max)}"


def _of(part: int, whole: int, **others: int) -> str:
    """`78 of 80, 2 failed`; what did not happen is left out."""
    rest = "".join(f", {number(count)} {name}" for name, count in others.items() if count)
    return f"{number(part)} of {number(whole)}{rest}"


def _pressure(one: Trajectory) -> str:
    pressure = one.pressure_ns
    if pressure is None:
        return UNKNOWN
    return " / ".join(duration(each) for each in (pressure.cpu, pressure.memory, pressure.io))


def _sampling(one: Trajectory) -> str:
    sampling = one.sampling
    if sampling is None:
        return UNKNOWN
    coverage = None if sampling.coverage_ppm is None else sampling.coverage_ppm / 1_000_000
    return (
        f"{number(sampling.samples)}, {amount(coverage, 'ratio')} of those due, longest gap "
        f"{duration(sampling.longest_gap_ns)}"
    )
