"""Exit audits, counted by name."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Final

from perfq.measure.result.trajectory import AuditFigures, Audits
from perfq.measure.trajectory.recording import TrajectoryRecording
from perfq.measure.trajectory.samples import Audit

#: Of each audit, the first so many that did not pass are told.
_TOLD: Final = 3
ENDED: Final = "session_ended"


def audits_of(recording: TrajectoryRecording) -> Audits:
    """All audits, by name in the order in which they first came."""
    by_name: dict[str, list[Audit]] = {}
    for one in (*recording.audits, *_unseen(recording)):
        by_name.setdefault(one.name, []).append(one)
    found = [_figures(name, audits) for name, audits in by_name.items()]
    return Audits(
        passed=sum(one.passed for one in found),
        failed=sum(one.failed for one in found),
        unknown=sum(one.unknown for one in found),
        by_name=found,
    )


def _figures(name: str, audits: list[Audit]) -> AuditFigures:
    counted = Counter(one.status for one in audits)
    told = [one for one in audits if one.status != "pass"][:_TOLD]
    return AuditFigures(
        name=name,
        passed=counted["pass"],
        failed=counted["fail"],
        unknown=counted["unknown"],
        evidence=[f"{'run' if one.n is None else f'session {one.n}'}: {one.evidence}" for one in told],
    )


def _unseen(recording: TrajectoryRecording) -> Iterable[Audit]:
    """Where the run was killed nobody audited the sessions that were under way."""
    begun = {one.n for one in recording.states if one.state in ("admitted", "running", "stopping")}
    return [Audit(0, ENDED, "unknown", n, "nobody saw it end") for n in sorted(begun - recording.sessions.keys())]
