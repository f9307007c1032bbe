"""The block of replayed sessions. Means and maxima are over sessions."""

from __future__ import annotations

from perfq.measure.document import Document


class Spread(Document):
    """Mean and maximum, ns."""

    mean: int | None = None
    max: int | None = None


class Queue(Document):
    """Time in the admission queue, ns, by cause."""

    memory: int | None = None
    launch: int | None = None


class MemoryBytes(Document):
    """Time-weighted mean, and the kernel's own peak."""

    mean: int | None = None
    peak: int | None = None


class Timeouts(Document):
    """Commands that ran into their timeout."""

    cleaned: int
    uncleaned: int


class Sessions(Document):
    """Sessions by fate."""

    planned: int
    completed: int
    failed: int


class Commands(Document):
    """Commands by fate; unknown is not success."""

    planned: int
    completed: int
    failed: int
    unknown: int


class Tail(Document):
    """Median, p99 and maximum, ns."""

    p50: int | None = None
    p99: int | None = None
    max: int | None = None


class Sampling(Document):
    """The sampler's own figures."""

    samples: int
    queue_ns: Tail
    read_ns: Tail
    coverage_ppm: int | None = None
    longest_gap_ns: int | None = None


class Audits(Document):
    """Exit audits; a run with an unknown one is not a pass."""

    passed: int
    failed: int
    unknown: int


class Identity(Document):
    """Whether each session's time is accounted for."""

    closed: bool | None = None
    worst_ns: int | None = None


class Trajectory(Document):
    """What only replayed sessions have."""

    makespan_ns: int | None = None
    extra_wait_ns: Spread
    init_ns: Spread
    queue_ns: Queue
    peak_concurrency: int | None = None
    memory_bytes: MemoryBytes
    cpu_seconds: float | None = None
    exec_ns_mean: int | None = None
    timeouts: Timeouts
    sessions: Sessions
    commands: Commands
    sampling: Sampling | None = None
    scheduler_delay_ns: Tail
    audits: Audits
    identity: Identity
