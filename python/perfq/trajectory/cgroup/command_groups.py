"""The groups in which a session's commands run, so that each can be told, and ended, apart from what others left.

A group that a command has left empty is taken by the next one. It is not removed in between: v1 says of a session
that it is FREEZING, for milliseconds, until its kernel has let go of a group in it that was just removed.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from perfq.trajectory.cgroup.group import Group


@dataclass
class CommandGroups:
    """Of one session, in whose group they are; they go with it."""

    session: Group
    _count: int = field(default=0, init=False)
    #: What the last command ran in, once it has ended; what runs on in it is found by the end of the session.
    _last: Group | None = field(default=None, init=False)

    @contextmanager
    def one(self) -> Iterator[Group]:
        """One for a command, with nothing in it, made or not; nobody else's until the block ends."""
        group = self._take()
        try:
            yield group
        finally:
            self._last = group

    def _take(self) -> Group:
        group, self._last = self._last, None
        if group is None or group.processes():
            group = self.session.only_members(f"command-{self._count}")
            self._count += 1
        return group
