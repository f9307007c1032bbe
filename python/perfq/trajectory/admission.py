"""Who may start, and when: first in, first out. Pure: it has no clock and reads nothing.

The head of the queue is admitted when there is a free slot, when budget − usage − the reservations of those still
starting leaves the headroom, and when the last start is long enough ago. Nobody passes it.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import Final, Literal

from perfq.profile.trajectory.profile import TrajectoryProfile

_MS: Final = 1_000_000

#: What holds the head. A free slot counts as memory: both wait for another session to give something back.
Blocked = Literal["memory", "launch"]


@dataclass(frozen=True)
class Limits:
    """What admission is held to; None is no limit. Bytes, and ns."""

    budget_bytes: int | None = None
    headroom_bytes: int = 0
    reserve_bytes: int = 0
    max_concurrent: int | None = None
    launch_interval_ns: int = 0

    @classmethod
    def of(cls, profile: TrajectoryProfile) -> Limits:
        """Those of a profile."""
        admission = profile.admission
        return cls(
            admission.budget_bytes,
            admission.headroom_bytes,
            admission.reserve_bytes,
            admission.max_concurrent,
            profile.launch.interval_ms * _MS,
        )

    def free_bytes(self, usage_bytes: int | None, starting: int) -> int | None:
        """Budget − usage − reservations; may be negative. None: there is no budget.

        ValueError where there is a budget and the usage is not known: an unknown usage is not 0.
        """
        if self.budget_bytes is None:
            return None
        if usage_bytes is None:
            raise ValueError("a memory budget needs a reading of the memory in use")
        return self.budget_bytes - usage_bytes - starting * self.reserve_bytes


@dataclass(frozen=True)
class Admitted:
    """One that may start now, and what it waited for: the two add up to `admitted_ns − submitted_ns`."""

    n: int
    submitted_ns: int
    admitted_ns: int
    #: Time in the queue in which the head had no memory or no slot.
    queue_memory_ns: int
    #: Time in the queue in which the head waited for the pace of starts alone.
    queue_launch_ns: int


@dataclass
class _Queued:
    n: int
    submitted_ns: int
    counted_ns: int
    memory_ns: int = 0
    launch_ns: int = 0

    def count(self, now_ns: int, blocked: Blocked | None) -> None:
        passed = now_ns - self.counted_ns
        self.counted_ns = now_ns
        if blocked == "launch":
            self.launch_ns += passed
        else:
            self.memory_ns += passed


class Admission:
    """The queue. Every call carries its time, ns, never less than that of the call before."""

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self._queue: deque[_Queued] = deque()
        self._starting: set[int] = set()
        self._running: set[int] = set()
        self._last_start_ns: int | None = None
        self._blocked: Blocked | None = None

    @property
    def queued(self) -> int:
        """How many wait."""
        return len(self._queue)

    @property
    def concurrent(self) -> int:
        """How many are admitted and have not ended."""
        return len(self._starting) + len(self._running)

    @property
    def blocked(self) -> Blocked | None:
        """What held the head at the last `admit`; None: nobody waits."""
        return self._blocked if self._queue else None

    @property
    def stuck(self) -> bool:
        """The head waits for memory that no session of ours holds: it may wait for ever."""
        return self.blocked == "memory" and not self.concurrent

    def submit(self, n: int, now_ns: int) -> None:
        """A session arrives, at the end of the queue."""
        self._queue.append(_Queued(n, now_ns, now_ns))

    def started(self, n: int) -> None:
        """It is ready: what it uses is seen, so nothing is reserved for it any longer."""
        self._starting.remove(n)
        self._running.add(n)

    def ended(self, n: int) -> None:
        """It has given back what it held, whether or not it ever became ready."""
        self._starting.discard(n)
        self._running.discard(n)

    def withdraw(self) -> list[int]:
        """Empties the queue, at a stop; those that will not start."""
        left = [queued.n for queued in self._queue]
        self._queue.clear()
        return left

    def admit(self, now_ns: int, usage_bytes: int | None) -> Admitted | None:
        """The head, if it may start now; what the time since the last call was lost to is counted to all who wait.

        A start uses memory that is not seen yet: read the usage anew and call again, until it is None.
        """
        held = self._blocked
        for queued in self._queue:
            queued.count(now_ns, held)
        if not self._queue:
            self._blocked = None
            return None
        self._blocked = self._hold(now_ns, usage_bytes)
        if self._blocked is not None:
            return None
        head = self._queue.popleft()
        self._starting.add(head.n)
        self._last_start_ns = now_ns
        return Admitted(head.n, head.submitted_ns, now_ns, head.memory_ns, head.launch_ns)

    def next_start_ns(self) -> int | None:
        """When the pace allows the next start; None: at once."""
        if self._last_start_ns is None:
            return None
        return self._last_start_ns + self.limits.launch_interval_ns

    def _hold(self, now_ns: int, usage_bytes: int | None) -> Blocked | None:
        limits = self.limits
        if limits.max_concurrent is not None and self.concurrent >= limits.max_concurrent:
            return "memory"
        free = limits.free_bytes(usage_bytes, len(self._starting))
        if free is not None and free < limits.headroom_bytes:
            return "memory"
        earliest = self.next_start_ns()
        return "launch" if earliest is not None and now_ns < earliest else None
