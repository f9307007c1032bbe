"""Traces of any length, written as a stream."""

from __future__ import annotations

import json
from pathlib import Path


def write_trace(path: Path, requests: int, rate: int, names: int = 10_000) -> Path:
    """`requests` GETs, LISTs and PATCHes of `names` ConfigMaps in 100 namespaces, `rate` a second."""
    header = {"schema": "perfq.trace/v1", "source": {}, "counts": {}, "losses": []}
    with path.open("w") as file:
        file.write(json.dumps(header) + "\n")
        for at in range(requests):
            # Neighbours in time are on different objects.
            name = at * 7919 % names
            collection = f"/api/v1/namespaces/load-{name % 100}/configmaps"
            line: dict[str, object] = {"t_us": at * 1_000_000 // rate, "verb": "GET", "path": f"{collection}/c-{name}"}
            if at % 10 == 3:
                line |= {"verb": "LIST", "path": collection, "query": "limit=500"}
            elif at % 10 == 7:
                line |= {
                    "verb": "PATCH",
                    "content_type": "application/merge-patch+json",
                    "body": json.dumps({"data": {"at": str(at)}}),
                }
            file.write(json.dumps(line) + "\n")
    return path
