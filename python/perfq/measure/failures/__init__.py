"""Injected failures: how often, met how often, and whether the client was shown to handle them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from perfq.measure.backlog import Depths
from perfq.measure.failures.case import Case
from perfq.measure.failures.clause import together
from perfq.measure.failures.predicates import PREDICATES
from perfq.measure.phases import Timeline
from perfq.measure.recording import Recording
from perfq.measure.result.replay import Digests, FailureInjected, FailureKind

__all__ = ["Background", "failures_injected"]


@dataclass(frozen=True)
class Background:
    """What was measured already and predicates need."""

    t0: int
    churn_end: int
    timeline: Timeline
    relists: int
    digests: Digests
    depths: Depths | None
    input: Sequence[tuple[int, int]]


def failures_injected(
    recording: Recording, profile: Mapping[str, Any], known: Background | None
) -> dict[FailureKind, FailureInjected]:
    """One entry for each kind that the profile asks for, also where it never happened."""
    found: dict[FailureKind, FailureInjected] = {}
    for kind in dict.fromkeys(str(failure["kind"]) for failure in profile["failures"]):
        faults = [fault for fault in recording.faults if fault.kind == kind]
        injected = [fault.t for fault in faults if fault.ev == "injected"]
        exercised = sum(fault.ev == "exercised" for fault in faults)
        shown: bool | None = None
        why: str | None = "it was never injected"
        if injected and known is not None:
            ended = next((fault.t for fault in faults if fault.ev == "ended"), None)
            case = Case(recording=recording, kind=kind, injected=injected[0], ended=ended, **vars(known))
            shown, why = together(PREDICATES[kind](case)) if exercised else (None, "the client never met it")
        found[cast(FailureKind, kind)] = FailureInjected(
            injected=len(injected), exercised=exercised, shown=shown, why=why
        )
    return found
