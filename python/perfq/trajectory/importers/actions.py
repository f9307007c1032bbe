"""What an importer finds in a recording: its actions in their order, each with its fate, and the gap before it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final, Literal

from perfq.profile.trajectory.fates import Fate, Provenance
from perfq.profile.trajectory.trajectory import Environment
from perfq.profile.tree import Path
from perfq.trajectory.importers.recording import Node
from perfq.trajectory.importers.stamps import Stamp, elapsed_us


@dataclass(frozen=True, slots=True)
class Gap:
    """The time between an action and the one before it."""

    #: none: they came as one · known · missing: there was a wait, and the recording does not say how long.
    kind: Literal["none", "known", "missing"]
    us: int = 0
    provenance: Provenance = "none"
    reason: str = "think"


NO_GAP: Final = Gap("none")
MISSING: Final = Gap("missing")


def gap_between(
    ended: Stamp | None, started: Stamp | None, node: Node, provenance: Provenance, *, reason: str = "think"
) -> Gap:
    """From the last result to the next action, missing where one has no stamp. Going back is noted as a problem."""
    if ended is None or started is None:
        return Gap("missing", reason=reason)
    us = elapsed_us(ended, started, node)
    return NO_GAP if us is None else Gap("known", us, provenance, reason)


@dataclass(slots=True)
class Action:
    """One thing that the recording names as an action."""

    at: Path
    fate: Fate
    #: The command, where a shell was given one.
    script: Node | None = None
    #: Why it is not replayed although it ran: not a command, a control key, ….
    why: str | None = None
    before: Gap = MISSING
    issued: Stamp | None = None
    duration_us: int | None = None
    exit_code: int | None = None
    output: str | None = None
    timeout_ms: int | None = None
    #: It began with a new shell.
    reset: bool = False


@dataclass(slots=True)
class Found:
    """What an importer has to say of one session."""

    format: str
    id: str
    actions: list[Action]
    environment: Environment
    #: What is lost that is no action: (where, why).
    notes: list[tuple[Path, str]] = field(default_factory=list)
