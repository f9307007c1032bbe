"""SHA-256 of the canonical object text of what the store and the table hold (docs: workload profiles).

One line an object, sorted by namespace, then name, as the plan's own text. Made in a thread while the
app is quiet; written so that the interpreter lets the app's thread in every few milliseconds.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping

from perfq.viewer.kinds import Cells
from perfq.viewer.objects import Key, PodRecord, Record

__all__ = ["store_digest", "table_digest"]

_Line = tuple[str, str, str, str, int, str]


def store_digest(objects: Mapping[Key, Record]) -> str:
    """Of the Pods of a store."""
    return _digest(
        (pod.namespace, pod.name, pod.phase, pod.ready, pod.restarts, pod.node)
        for pod in list(objects.values())
        if isinstance(pod, PodRecord)
    )


def table_digest(rows: Mapping[Key, Cells]) -> str:
    """Of the rows of a Pod table: what its cells say."""
    return _digest((str(c[0]), str(c[1]), str(c[3]), str(c[2]), int(c[4]), str(c[5])) for c in list(rows.values()))


def _digest(lines: Iterable[_Line]) -> str:
    # Grouped first: many short sorts, since a long one would hold the interpreter lock throughout.
    groups: dict[str, list[_Line]] = {}
    for line in lines:
        groups.setdefault(line[0], []).append(line)
    sha = hashlib.sha256()
    text = json.dumps
    for namespace in sorted(groups):
        for _, name, phase, ready, restarts, node in sorted(groups[namespace]):
            sha.update(
                f'{{"namespace":{text(namespace)},"name":{text(name)},"phase":{text(phase)},"ready":{text(ready)},'
                f'"restarts":{restarts},"node":{text(node)}}}\n'.encode()
            )
    return sha.hexdigest()
