"""The block of replayed sessions. Means and maxima are over those that started and came to an end of their own."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, field

from perfq.measure.document import Document


class Spread(Document):
    """Mean and maximum, ns."""

    mean: int | None = None
    max: int | None = None


class Queue(Document):
    """Time in the admission queue, ns, by cause: means, and the longest."""

    memory: int | None = None
    launch: int | None = None
    memory_max: int | None = None
    launch_max: int | None = None


class MemoryBytes(Document):
    """Over sessions."""

    mean: Annotated[int | None, Meta(description="Of the sessions' own time-weighted means, from samples")] = None
    peak: Annotated[int | None, Meta(description="The largest of the sessions' own peaks, as the kernel has them")] = (
        None
    )
    total_peak: Annotated[int | None, Meta(description="Of all sessions together, as the kernel has it")] = None


class Timeouts(Document):
    """Commands that ran into their timeout."""

    cleaned: int
    uncleaned: int


class Sessions(Document):
    """Sessions by fate."""

    planned: int
    completed: int
    failed: int
    cancelled: Annotated[int, Meta(description="By the end of the run")] = 0
    unfinished: Annotated[int, Meta(description="Those of a killed run that nobody saw end")] = 0


class Commands(Document):
    """Commands by fate; unknown is not success."""

    planned: int
    completed: Annotated[int, Meta(description="They ended by themselves, with whatever exit code")]
    failed: Annotated[int, Meta(description="They ran into their timeout, or could not be started")]
    unknown: int
    not_issued: Annotated[int, Meta(description="Their turn never came")] = 0
    nonzero: Annotated[
        int, Meta(description="Of the completed ones: those with another exit code than 0, or a signal")
    ] = 0


class Tail(Document):
    """Median, p99 (null below 100 samples) and maximum, ns."""

    p50: int | None = None
    p99: int | None = None
    max: int | None = None


class Waits(Document):
    """The planned waits, and what the harness added to each: timer, pause, resume, and the way to the next step."""

    count: int
    planned_ns: Annotated[int, Meta(description="Of all of them")]
    lateness_ns: Tail
    pause_ns: Tail
    resume_ns: Tail
    residual_ns: Tail


class Sampling(Document):
    """The sampler's own figures."""

    samples: int
    queue_ns: Tail
    read_ns: Tail
    write_ns: Tail
    coverage_ppm: Annotated[int | None, Meta(description="Samples taken of those that were due, in millionths")] = None
    longest_gap_ns: int | None = None
    errors: Annotated[int | None, Meta(description="Sessions whose measurement ended with an unexpected error")] = None
    leaked: Annotated[int | None, Meta(description="Reads that did not end within the drain's time")] = None
    lost: Annotated[int | None, Meta(description="Samples that could not be written")] = None


class PressureNs(Document):
    """How long some of the machine's tasks, not the sessions' alone, waited for each during the run (PSI totals)."""

    cpu: int | None = None
    memory: int | None = None
    io: int | None = None


class SessionFailure(Document):
    """A session that failed."""

    n: Annotated[int, Meta(description="As in plan.json")]
    id: str
    why: str


class AuditFigures(Document):
    """One audit over all sessions."""

    name: str
    passed: int
    failed: int
    unknown: int
    evidence: Annotated[list[str], Meta(description="Of those that did not pass, the first few")] = field(
        default_factory=list
    )


class Audits(Document):
    """Exit audits; a run with an unknown one is not a pass."""

    passed: int
    failed: int
    unknown: int
    by_name: list[AuditFigures] = field(default_factory=list)


class Identity(Document):
    """Whether each session's time is accounted for, within 1 % or 20 ms, whichever is larger."""

    closed: bool | None = None
    worst_ns: Annotated[int | None, Meta(description="The furthest that one is open")] = None
    open: Annotated[int | None, Meta(description="Sessions that do not close")] = None


class TimelinePoint(Document):
    """How many sessions were where at one instant."""

    t_ns: Annotated[int, Meta(description="After the start of the run")]
    arrived: int
    queued: int
    running: int
    done: int


class Trajectory(Document):
    """What only replayed sessions have."""

    makespan_ns: Annotated[int | None, Meta(description="From the first intended arrival to the last end")] = None
    extra_wait_ns: Annotated[Spread, Meta(description="Of all waits of a session: the harness's own, not the task's")]
    arrival_late_ns: Tail
    init_ns: Spread
    teardown_ns: Spread
    queue_ns: Queue
    peak_concurrency: int | None = None
    memory_bytes: MemoryBytes
    cpu_seconds: Annotated[float | None, Meta(description="Core-seconds of all sessions, as the kernel has them")] = (
        None
    )
    exec_ns_mean: Annotated[int | None, Meta(description="In commands, of a session")] = None
    timeouts: Timeouts
    sessions: Sessions
    commands: Commands
    waits: Waits
    sampling: Sampling | None = None
    pressure_ns: PressureNs | None = None
    scheduler_delay_ns: Tail
    audits: Audits
    identity: Identity
    failures: Annotated[list[SessionFailure], Meta(description="The first 20 sessions that failed")] = field(
        default_factory=list
    )
    timeline: list[TimelinePoint] = field(default_factory=list)
