"""The `trajectory` block of a result, put together from the record."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Final

from perfq.measure.result.trajectory import (
    Commands,
    Identity,
    MemoryBytes,
    Queue,
    SessionFailure,
    Sessions,
    Timeouts,
    Trajectory,
    Waits,
)
from perfq.measure.trajectory import samples
from perfq.measure.trajectory.audits import audits_of
from perfq.measure.trajectory.manifest import TrajectoryManifest
from perfq.measure.trajectory.recording import TrajectoryRecording
from perfq.measure.trajectory.resources import Resources
from perfq.measure.trajectory.tails import spread, tail
from perfq.measure.trajectory.timeline import peak_concurrency, timeline

#: An identity that is open by no more than this, or 1 %, whichever is larger, is closed.
IDENTITY_NS: Final = 20_000_000
#: So many sessions that failed are told of.
_FAILURES: Final = 20
_SECOND: Final = 1_000_000_000


def trajectory_block(
    manifest: TrajectoryManifest, recording: TrajectoryRecording, resources: Resources | None
) -> Trajectory:
    """Everything that only replayed sessions have; `resources` is None where nothing was sampled."""
    ended = recording.ended
    return Trajectory(
        makespan_ns=_makespan(recording),
        extra_wait_ns=spread([one.extra for one in ended]),
        arrival_late_ns=tail(one.late for one in recording.sessions.values() if one.late is not None),
        init_ns=spread([one.init for one in ended]),
        teardown_ns=spread([one.teardown for one in ended]),
        queue_ns=_queue(ended),
        peak_concurrency=peak_concurrency(recording.states),
        memory_bytes=_memory(recording, resources),
        cpu_seconds=_cpu_seconds(recording),
        exec_ns_mean=spread([one.exec for one in ended]).mean,
        timeouts=_timeouts(recording.commands),
        sessions=_sessions(manifest, recording),
        commands=_commands(manifest, recording.commands),
        waits=_waits(recording.waits),
        sampling=None if resources is None else resources.sampling(),
        pressure_ns=None if resources is None else resources.pressure(),
        scheduler_delay_ns=tail(delay for one in recording.delays for delay in one.delays),
        audits=audits_of(recording),
        identity=_identity(recording),
        failures=[
            SessionFailure(n=one.n, id=one.id, why=one.why or "it is not said why")
            for one in recording.sessions.values()
            if one.outcome == "failed"
        ][:_FAILURES],
        timeline=timeline(recording),
    )


def closed(session: samples.Session) -> bool | None:
    """Whether all of its time is accounted for; None where it never ended."""
    if session.open_ns is None or session.stopped is None:
        return None
    return abs(session.open_ns) <= max(IDENTITY_NS, (session.stopped - session.intended) // 100)


def _makespan(recording: TrajectoryRecording) -> int | None:
    """Of a run that was cut short there is none."""
    stopped = [one.stopped for one in recording.sessions.values() if one.stopped is not None]
    if recording.killed or recording.stops or not stopped:
        return None
    return max(stopped) - min(one.intended for one in recording.sessions.values())


def _queue(ended: Sequence[samples.Session]) -> Queue:
    memory, launch = spread([one.queue_memory for one in ended]), spread([one.queue_launch for one in ended])
    return Queue(memory=memory.mean, launch=launch.mean, memory_max=memory.max, launch_max=launch.max)


def _memory(recording: TrajectoryRecording, resources: Resources | None) -> MemoryBytes:
    peaks = [one.memory_peak for one in recording.counters if one.n is not None and one.memory_peak is not None]
    whole = [one.memory_peak for one in recording.counters if one.n is None and one.memory_peak is not None]
    return MemoryBytes(
        mean=None if resources is None else resources.memory_mean(),
        peak=max(peaks, default=None),
        total_peak=max(whole, default=None),
    )


def _cpu_seconds(recording: TrajectoryRecording) -> float | None:
    """Only where it is known of each session that was started: a part of it would look like the whole."""
    known = {one.n: one.cpu_ns for one in recording.counters if one.n is not None and one.cpu_ns is not None}
    wanted = {one.n for one in recording.started}
    return sum(known.values()) / _SECOND if wanted and wanted <= known.keys() else None


def _timeouts(commands: Sequence[samples.Command]) -> Timeouts:
    counted = Counter(one.outcome for one in commands)
    return Timeouts(cleaned=counted["timed_out_cleaned"], uncleaned=counted["timed_out_uncleaned"])


def _sessions(manifest: TrajectoryManifest, recording: TrajectoryRecording) -> Sessions:
    counted = Counter(one.outcome for one in recording.sessions.values())
    return Sessions(
        planned=manifest.sessions.sessions,
        completed=counted["completed"],
        failed=counted["failed"],
        cancelled=counted["cancelled"],
        unfinished=manifest.sessions.sessions - counted.total(),
    )


def _commands(manifest: TrajectoryManifest, commands: Sequence[samples.Command]) -> Commands:
    done = [one for one in commands if one.outcome == "done"]
    unknown = sum(one.outcome == "unknown" for one in commands)
    return Commands(
        planned=manifest.sessions.commands,
        completed=len(done),
        failed=len(commands) - len(done) - unknown,
        unknown=unknown,
        not_issued=manifest.sessions.commands - len(commands),
        nonzero=sum(one.exit_code != 0 for one in done),
    )


def _waits(waits: Sequence[samples.Wait]) -> Waits:
    return Waits(
        count=len(waits),
        planned_ns=sum(one.planned for one in waits),
        lateness_ns=tail(one.lateness for one in waits),
        pause_ns=tail(one.pause for one in waits if one.pause is not None),
        resume_ns=tail(one.resume for one in waits if one.resume is not None),
        residual_ns=tail(one.residual for one in waits),
    )


def _identity(recording: TrajectoryRecording) -> Identity:
    """Of the sessions that came to an end of their own; one that was cancelled in a step has no end of that step."""
    ended = recording.ended
    known = [(closed(one), one.open_ns) for one in ended if one.open_ns is not None]
    if not known:
        return Identity()
    return Identity(
        closed=len(known) == len(ended) and all(one for one, _ in known),
        worst_ns=max(abs(by) for _, by in known if by is not None),
        open=sum(not one for one, _ in known),
    )
