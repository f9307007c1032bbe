"""Actions → a session, and the report of what was lost. What is replayed is decided here, the same for all formats."""

from __future__ import annotations

import hashlib
import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final, Literal

from perfq.profile.shown import show_path, show_text
from perfq.profile.trajectory.fates import FATES, Fate, Provenance, worst_provenance
from perfq.profile.trajectory.part import MAX_MS
from perfq.profile.trajectory.trajectory import ExecStep, Loss, Origin, Recorded, Trajectory, WaitStep
from perfq.profile.tree import Path
from perfq.trajectory.importers.actions import Action, Found, Gap
from perfq.trajectory.importers.recording import Recording

MissingWait = Literal["reject", "zero", "seeded"]
#: A command that ran into its time limit ran, up to it, and is replayed with that limit.
REPLAYED: Final[frozenset[Fate]] = frozenset({"ran", "timed_out"})
#: From here on a wait is flagged; it is kept in full.
LONG_MS: Final = 3_600_000
#: What seeded waits are drawn from, evenly, ms: some seconds of a model's thinking.
SEEDED_MS: Final = (2_000, 20_000)
WHY: Final[dict[Fate, str]] = {
    "ran": "it cannot be replayed",
    "timed_out": "it cannot be replayed",
    "still_running": "it went on running behind the actions that followed, which no replay of one after another has",
    "refused": "the program that recorded it did not take it",
    "rejected": "a person or a hook rejected it",
    "never_executed": "its turn never came",
    "unknown": "the recording does not say what became of it",
}


@dataclass(frozen=True, slots=True)
class ImportOptions:
    """What stands in for waits that the recording does not have."""

    missing_wait: MissingWait = "reject"
    seed: int = 0


@dataclass(frozen=True, slots=True)
class LongWait:
    """A wait of an hour or more, before the action at `at`."""

    at: str
    wait_ms: int


@dataclass(frozen=True, slots=True)
class Imported:
    """A session and how it came to be; the losses stand in the session's `source`."""

    name: str
    trajectory: Trajectory
    fates: dict[Fate, int]
    waits: dict[Provenance, int]
    #: Waits that the recording does not have, and that `missing_wait` stood in for.
    filled: int
    long_waits: list[LongWait]

    @property
    def actions(self) -> int:
        """Of the recording."""
        return sum(self.fates.values())

    @property
    def losses(self) -> list[Loss]:
        """All of them."""
        source = self.trajectory.source
        return [] if source is None else source.losses


@dataclass(frozen=True, slots=True)
class Lost:
    """A session of which nothing can be replayed."""

    name: str
    id: str
    format: str
    fates: dict[Fate, int]
    losses: list[Loss]

    @property
    def actions(self) -> int:
        """Of the recording."""
        return sum(self.fates.values())


@dataclass(slots=True)
class _Building:
    """A session in the making."""

    recording: Recording
    options: ImportOptions
    draws: random.Random
    steps: list[ExecStep | WaitStep] = field(default_factory=list)
    #: Waits since the last command: they count only once another command follows.
    pending: list[WaitStep] = field(default_factory=list)
    missing: list[Path] = field(default_factory=list)
    missing_pending: list[Path] = field(default_factory=list)
    long_waits: list[LongWait] = field(default_factory=list)
    losses: list[Loss] = field(default_factory=list)
    commands: int = 0
    reset: bool = False


def build(recording: Recording, found: Found, options: ImportOptions) -> Imported | Lost:
    """The session. What is wrong with it is noted in the recording; then it is not to be used."""
    draws = random.Random(f"{options.seed}/{recording.sha256}/{show_text(found.id)}")
    building = _Building(recording, options, draws)
    first = next((action.issued for action in found.actions if action.issued is not None), None)
    for action in found.actions:
        _wait(building, action)
        if not _replay(building, action, None if first is None else first.us):
            why = show_text(action.why or WHY[action.fate])  # it may name a tool, as the recording writes it
            building.losses.append(Loss(at=show_path(action.at), fate=action.fate, why=why))
    building.losses += [Loss(at=show_path(path), why=why) for path, why in found.notes]
    _note_missing(building)
    counted = Counter(action.fate for action in found.actions)
    fates = {fate: counted[fate] for fate in FATES if counted[fate]}
    if not building.commands:
        return Lost(recording.name, _name(found.id), found.format, fates, building.losses)
    return _imported(building, found, fates)


def _imported(building: _Building, found: Found, fates: dict[Fate, int]) -> Imported:
    waits = [step for step in building.steps if isinstance(step, WaitStep)]
    provenances = Counter(wait.provenance or "none" for wait in waits)
    origin = Origin(
        format=found.format,
        sha256=building.recording.sha256,
        wait_provenance=worst_provenance(set(provenances)),
        missing_wait=building.options.missing_wait,
        fates=fates,
        losses=building.losses,
    )
    trajectory = Trajectory(
        schema="perfq.trajectory/v1",
        id=_name(found.id),
        source=origin,
        environment=found.environment,
        steps=building.steps,
    )
    return Imported(
        building.recording.name, trajectory, fates, dict(provenances), len(building.missing), building.long_waits
    )


def _name(text: str) -> str:
    """As a session may be called: printable, and not long."""
    return show_text(text)[:200] or "session"


def _wait(building: _Building, action: Action) -> None:
    gap = action.before
    if gap.kind == "none":
        return
    if gap.kind == "missing":
        if not building.steps:
            return  # before the first command nothing is known to have been waited for
        building.missing_pending.append(action.at)
        building.pending.append(_stand_in(building, gap))
        return
    wait_ms = gap.us // 1_000  # rounded down: not a microsecond is made up
    if wait_ms > MAX_MS:
        building.recording.root.problem(f"waits of at most {MAX_MS} ms", f"{wait_ms} ms before {show_path(action.at)}")
        return
    if wait_ms >= LONG_MS:
        building.long_waits.append(LongWait(show_path(action.at), wait_ms))
    building.pending.append(WaitStep(kind="wait", wait_ms=wait_ms, reason=gap.reason, provenance=gap.provenance))


def _stand_in(building: _Building, gap: Gap) -> WaitStep:
    if building.options.missing_wait != "seeded":
        return WaitStep(kind="wait", wait_ms=0, reason=gap.reason, provenance="none")
    wait_ms = building.draws.randrange(SEEDED_MS[0], SEEDED_MS[1] + 1)
    return WaitStep(kind="wait", wait_ms=wait_ms, reason=gap.reason, provenance="synthetic")


def _replay(building: _Building, action: Action, first_us: int | None) -> bool:
    """Adds the command, where it is one that is replayed."""
    building.reset |= action.reset
    if action.fate not in REPLAYED or action.why is not None or action.script is None:
        return False
    script = action.script.text()
    if script is None and action.script:
        return True  # what is wrong with it is noted
    if script is None or not script.strip():
        action.why = "an empty command"
        return False
    if "\0" in script:
        action.script.problem("a command without NUL characters")
        return True
    if any("\ud800" <= char <= "\udfff" for char in script):
        action.script.problem("a command without lone surrogates", "text with a lone surrogate")
        return True
    building.steps += building.pending
    building.missing += building.missing_pending
    building.pending, building.missing_pending = [], []
    step = ExecStep(
        kind="exec",
        id=f"c{building.commands}",
        script=script,
        timeout_ms=None if action.timeout_ms is None else min(max(action.timeout_ms, 1), MAX_MS),
        recorded=_recorded(action, first_us),
    )
    if building.reset:
        step = step.model_copy(update={"reset": True})
    building.steps.append(step)
    building.commands += 1
    building.reset = False
    return True


def _recorded(action: Action, first_us: int | None) -> Recorded:
    offset_us = None if action.issued is None or first_us is None else action.issued.us - first_us
    output = None if action.output is None else action.output.encode("utf-8", "surrogatepass")
    code = action.exit_code
    return Recorded(
        offset_ms=_ms(offset_us),
        duration_ms=_ms(action.duration_us),
        exit_code=code if code is not None and abs(code) < 2**31 else None,
        fate="timed_out" if action.fate == "timed_out" else "ran",
        output_bytes=None if output is None else len(output),
        output_sha256=None if output is None else hashlib.sha256(output).hexdigest(),
    )


def _ms(us: int | None) -> int | None:
    """Milliseconds, rounded down; None for what no recording of a session can mean."""
    return None if us is None or not 0 <= us // 1_000 <= MAX_MS else us // 1_000


def _note_missing(building: _Building) -> None:
    if building.options.missing_wait != "reject" or not building.missing:
        return
    paths: Sequence[Path] = building.missing
    building.recording.root.problem(
        "--missing-wait zero or seeded, which says so in the result",
        f"no recorded wait before {len(paths)} action{'s' if len(paths) != 1 else ''}, first {show_path(paths[0])}",
    )
