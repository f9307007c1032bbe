"""What became of one session, and where its time went.

`stopped − intended` is the sum of eight terms. Each is taken from stamps of its own and none is what the others leave,
so that time which nobody accounts for shows.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final, Literal

from perfq.trajectory.local.command import Ended
from perfq.trajectory.plan import Session
from perfq.trajectory.waits import Waited

_MS: Final = 1_000_000
#: An identity that is open by more than this, or 1 %, whichever is larger, makes a run INVALID.
IDENTITY_NS: Final = 20 * _MS

Fate = Literal["completed", "failed", "cancelled"]


@dataclass
class Stamps:
    """When things came to a session, ns; None: they never did."""

    intended: int
    submitted: int | None
    admitted: int | None = None
    launched: int | None = None
    ready: int | None = None
    first: int | None = None
    last: int | None = None
    stopping: int | None = None
    stopped: int | None = None


@dataclass
class Lived:
    """What became of one session."""

    session: Session
    stamps: Stamps
    queue_memory_ns: int = 0
    queue_launch_ns: int = 0
    fate: Fate = "failed"
    why: str | None = None
    exec_ns: int = 0
    planned_ns: int = 0
    extra_ns: int = 0
    commands: int = 0
    #: Of init: what launching its commands took.
    launch_ns: int = 0
    #: Of the steps that have ended, in their order; a wait's is `waited`.
    outcomes: list[str] = field(default_factory=list)
    #: When the step began that is under way, and whether it is a wait.
    step_began_ns: int | None = None
    in_wait: bool = False
    place: dict[str, object] = field(default_factory=dict)
    left: list[str] = field(default_factory=list)

    @property
    def init_ns(self) -> int:
        """From admission to a sandbox that is ready, or failed to be; and all launching of its commands.

        Many are admitted at one instant and launched one after another: that delay is the launch's cost.
        """
        stamps = self.stamps
        return _between(stamps.admitted, stamps.stopping if stamps.ready is None else stamps.ready) + self.launch_ns

    @property
    def cut(self) -> bool:
        """A step is under way, or was when it ended."""
        return self.step_began_ns is not None

    def cut_short(self, now_ns: int) -> None:
        """What passed in a step that has no end is counted too: as extra where it was a wait."""
        if self.step_began_ns is None:
            return
        if self.in_wait:
            self.extra_ns += now_ns - self.step_began_ns
        else:
            self.exec_ns += now_ns - self.step_began_ns

    def ran(self, ended: Ended) -> None:
        """A command has ended. What launching it took, its launcher included, is initialization."""
        started_ns = ended.returned_ns if ended.started_ns is None else ended.started_ns
        self.launch_ns += started_ns - ended.issued_ns
        self.exec_ns += ended.returned_ns - started_ns
        self.commands += 1
        self.outcomes.append(ended.outcome)
        self.step_began_ns = None

    def waited(self, waited: Waited) -> None:
        """A wait is over."""
        self.planned_ns += waited.planned_term_ns
        self.extra_ns += waited.extra_ns
        self.outcomes.append("waited")
        self.step_began_ns = None

    @property
    def teardown_ns(self) -> int:
        """From the end of the last step's account to an empty place."""
        return _between(self.stamps.stopping, self.stamps.stopped)

    @property
    def open_ns(self) -> int | None:
        """By how much the identity does not close; None: the session has not ended."""
        stamps = self.stamps
        if stamps.stopped is None:
            return None
        late = _between(stamps.intended, stamps.submitted)
        queue = self.queue_memory_ns + self.queue_launch_ns
        steps = self.exec_ns + self.planned_ns + self.extra_ns
        return stamps.stopped - stamps.intended - (late + queue + self.init_ns + steps + self.teardown_ns)

    @property
    def closed(self) -> bool | None:
        """Whether all of its time is accounted for, within 1 % or 20 ms."""
        if self.open_ns is None or self.stamps.stopped is None:
            return None
        return abs(self.open_ns) <= max(IDENTITY_NS, (self.stamps.stopped - self.stamps.intended) // 100)

    def record(self) -> dict[str, object]:
        """Its line in the record, once it has ended."""
        stamps = self.stamps
        return {
            "k": "tj_session",
            "t": stamps.stopped,
            "n": self.session.n,
            "id": self.session.id,
            **vars(stamps),
            "outcome": self.fate,
            "why": self.why,
            "queue_memory": self.queue_memory_ns,
            "queue_launch": self.queue_launch_ns,
            "init": self.init_ns,
            "launch": self.launch_ns,
            "exec": self.exec_ns,
            "planned": self.planned_ns,
            "extra": self.extra_ns,
            "teardown": self.teardown_ns,
            "commands": self.commands,
            "left": self.left,
            "backend": self.place,
        }


def _between(begin: int | None, end: int | None) -> int:
    return 0 if begin is None or end is None else end - begin
