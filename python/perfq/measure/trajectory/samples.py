"""Lines of samples.ndjson that only replayed sessions have. The contract is docs/reference/samples.md."""

from __future__ import annotations

from typing import Any, Literal

from msgspec import Struct

from perfq.measure.samples import Common, Whole

Status = Literal["pass", "fail", "unknown"]


class Start(Struct, tag_field="k", tag="tj_start"):
    """The start of the run, from which arrivals count."""

    t: Whole


class Note(Struct, tag_field="k", tag="tj_note"):
    """Something that a reader should know of the machine, or of earlier runs."""

    t: Whole
    text: str


class State(Struct, tag_field="k", tag="tj_state"):
    """A session changed its state."""

    t: Whole
    n: Whole
    state: str


class Session(Struct, tag_field="k", tag="tj_session"):
    """A session has ended. Stamps are null where it never came to that; terms are ns."""

    t: Whole | None
    n: Whole
    id: str
    intended: Whole
    outcome: str
    submitted: Whole | None = None
    admitted: Whole | None = None
    launched: Whole | None = None
    ready: Whole | None = None
    first: Whole | None = None
    last: Whole | None = None
    stopping: Whole | None = None
    stopped: Whole | None = None
    why: str | None = None
    queue_memory: Whole = 0
    queue_launch: Whole = 0
    init: Whole = 0
    exec: Whole = 0
    planned: Whole = 0
    extra: Whole = 0
    launch: Whole = 0
    teardown: Whole = 0
    commands: Whole = 0
    left: list[str] = []
    backend: dict[str, Any] = {}

    @property
    def late(self) -> int | None:
        """How much later than it was meant to it arrived, ns."""
        return None if self.submitted is None else self.submitted - self.intended

    @property
    def open_ns(self) -> int | None:
        """By how much its time is not accounted for: `stopped − intended` less the eight terms."""
        if self.stopped is None or self.late is None:
            return None
        queue = self.queue_memory + self.queue_launch
        terms = self.late + queue + self.init + self.exec + self.planned + self.extra + self.teardown
        return self.stopped - self.intended - terms


class Command(Struct, tag_field="k", tag="tj_command"):
    """A command has returned."""

    t: Whole
    n: Whole
    step: Whole
    outcome: str
    issued: Whole
    returned: Whole
    due: Whole | None = None
    started: Whole | None = None
    ended: Whole | None = None
    exit_code: Whole | None = None
    signal: Whole | None = None
    why: str | None = None
    timeout_ms: Whole | None = None
    output_bytes: Whole | None = None
    output_sha256: str | None = None
    left: list[Any] | None = None


class Wait(Struct, tag_field="k", tag="tj_wait"):
    """A wait is over, and the next step was issued."""

    t: Whole
    n: Whole
    step: Whole
    planned: Whole
    entered: Whole
    sleep_begin: Whole
    due: Whole
    woken: Whole
    next_issued: Whole
    pause_begin: Whole | None = None
    pause_end: Whole | None = None
    resume_begin: Whole | None = None
    resume_end: Whole | None = None

    @property
    def lateness(self) -> int:
        """The timer's, ns."""
        return self.woken - self.due

    @property
    def pause(self) -> int | None:
        """What pausing took, ns; None where nothing was paused."""
        return None if self.pause_begin is None or self.pause_end is None else self.pause_end - self.pause_begin

    @property
    def resume(self) -> int | None:
        """What resuming took, ns; None where nothing was."""
        return None if self.resume_begin is None or self.resume_end is None else self.resume_end - self.resume_begin

    @property
    def residual(self) -> int:
        """From the last of it to the next step, ns."""
        return self.next_issued - (self.woken if self.resume_end is None else self.resume_end)

    @property
    def extra(self) -> int:
        """What the harness added to the wait, ns."""
        return (self.pause or 0) + self.lateness + (self.resume or 0) + self.residual


class Delay(Struct, tag_field="k", tag="tj_delay"):
    """Delays of the scheduler in one window of 10 s."""

    t: Whole
    window: Whole
    count: Whole
    p50: Whole | None
    p99: Whole | None
    max: Whole | None
    delays: list[Whole] = []


class Audit(Struct, tag_field="k", tag="tj_audit"):
    """One exit audit; `n` is null for those of the whole run."""

    t: Whole
    name: str
    status: Status
    n: Whole | None = None
    evidence: Any = None


class Counters(Struct, tag_field="k", tag="tj_counters"):
    """The kernel's own counters of a session's place, at its teardown; of the whole run where `n` is null."""

    t: Whole
    n: Whole | None = None
    memory_peak: Whole | None = None
    cpu_ns: Whole | None = None
    oom: Whole | None = None
    swap: Whole | None = None
    events: Any = None


Sample = Common | Start | Note | State | Session | Command | Wait | Delay | Audit | Counters
