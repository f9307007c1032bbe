"""Probe events: from the commit to the terminal's cell."""

from __future__ import annotations

from perfq.measure.commits import Commits
from perfq.measure.figures import LatencySamples
from perfq.measure.recording import Recording
from perfq.measure.result.replay import Probes


def collect(recording: Recording, planned: int, into: LatencySamples) -> Probes:
    """Fills event_to_screen and counts what became of the probes.

    A probe whose Pod was changed by the plan before its number was seen is superseded: no sample. One
    that was given up without having been seen is lost, and a sample of at least the time that it was
    waited for: a screen that stands still must not look fast.
    """
    commits = recording.commits
    sent = {commits.seq[row]: row for row in range(len(commits)) if commits.src[row] == "probe"}
    given_up = {end.i: end.t for end in recording.probe_ends}
    seen = superseded = lost = 0
    plan_changes = _plan_changes(commits, {commits.key[row] for row in sent.values()})
    for i, row in sent.items():
        committed = commits.t[row]
        cell = recording.cells.get(i)
        ended = cell.t if cell is not None else given_up.get(i)
        if ended is None:
            continue
        if any(committed < t < ended for t in plan_changes.get(commits.key[row], ())):
            superseded += 1
        elif cell is not None:
            seen += 1
            into.add(committed, cell.t - committed)
        else:
            lost += 1
            into.censored += 1
            into.add(committed, ended - committed)
    return Probes(
        planned=planned,
        seen=seen,
        superseded=superseded,
        lost=lost,
        unsent=max(planned - len(sent), 0),
    )


def _plan_changes(commits: Commits, keys: set[tuple[str, str]]) -> dict[tuple[str, str], list[int]]:
    changes: dict[tuple[str, str], list[int]] = {}
    if keys:
        for row in range(len(commits)):
            if commits.src[row] == "plan" and commits.key[row] in keys:
                changes.setdefault(commits.key[row], []).append(commits.t[row])
    return changes
