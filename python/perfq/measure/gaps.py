"""Did a Pod watch miss an event? Between its first and its last, every event of its scope must be there."""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right

from perfq.measure.commits import CHURN
from perfq.measure.recording import Recording
from perfq.measure.rendering import pod_watchers


def missed_events(recording: Recording) -> int:
    """Events that were committed in a watch's scope and range and never written to it, over all Pod
    watches. Watches with a selector see a part by right and are left out."""
    commits = recording.commits
    everywhere: array[int] = array("q")
    in_namespace: dict[str, array[int]] = {}
    for row in commits.in_order():
        if commits.src[row] in CHURN:
            everywhere.append(commits.rv[row])
            in_namespace.setdefault(commits.key[row][0], array("q")).append(commits.rv[row])
    missed = 0
    for w, writes in pod_watchers(recording):
        opened = recording.watch_opens[w]
        due = in_namespace.get(opened.scope, array("q")) if opened.scope else everywhere
        got = {rv for rv in writes.rv if (at := commits.find(rv)) is not None and commits.src[at] in CHURN}
        if got and not opened.selector:
            missed += bisect_right(due, max(got)) - bisect_left(due, min(got)) - len(got)
    return missed
