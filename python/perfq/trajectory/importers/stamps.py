"""Instants of a recording, in microseconds. Only their differences mean anything."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime

from perfq.profile.shown import show_path
from perfq.profile.tree import Path
from perfq.trajectory.importers.recording import Node


@dataclass(frozen=True, slots=True)
class Stamp:
    """An instant, and where it stands."""

    us: int
    path: Path


class Stamps:
    """Reads the stamps of one recording: all with a time zone, or all without one."""

    def __init__(self) -> None:
        self._zoned: bool | None = None

    def epoch(self, node: Node) -> Stamp | None:
        """Seconds since 1970; None where there is none."""
        seconds = node.number()
        return None if seconds is None else Stamp(round(seconds * 1_000_000), node.path)

    def iso(self, node: Node) -> Stamp | None:
        """ISO 8601, with a time zone or without; None where there is none."""
        text = node.text()
        if not text:
            return None
        try:
            found = datetime.fromisoformat(text)
        except ValueError:
            node.problem("an instant such as 2026-01-31T12:00:00.250Z")
            return None
        zoned = found.tzinfo is not None
        if self._zoned is None:
            self._zoned = zoned
        elif zoned != self._zoned:
            node.problem("an instant with a time zone as the others" if self._zoned else "one without, as the others")
            return None
        # Without a zone: as if it were UTC. Within one recording the differences are the same.
        moment = found if zoned else found.replace(tzinfo=UTC)
        return Stamp(round(moment.timestamp() * 1_000_000), node.path)


def elapsed_us(earlier: Stamp, later: Stamp, node: Node) -> int | None:
    """From one stamp to the next; going back is a problem of the recording, named at the later one."""
    if later.us >= earlier.us:
        return later.us - earlier.us
    back = (earlier.us - later.us) / 1_000_000
    at = Node(None, later.path, node.recording)
    at.problem(f"an instant that is not before {show_path(earlier.path)}", f"a stamp {back:g} s before it")
    return None
