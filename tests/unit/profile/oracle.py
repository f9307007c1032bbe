"""The workload generator again, in plain Python on `random.Random`: what any reader of the docs could write.

It shares no line with the product. Slow and short on purpose.
"""

from __future__ import annotations

import hashlib
import json
import random
from collections.abc import Iterator
from typing import Any

Profile = dict[str, Any]


def line(value: dict[str, Any]) -> str:
    """One canonical line."""
    return json.dumps(value, separators=(",", ":")) + "\n"


def rate(profile: Profile, second: int) -> int:
    """Events in that second."""
    for burst in profile["bursts"]:
        if burst["start_second"] <= second < burst["start_second"] + burst["duration_seconds"]:
            return int(burst["events_per_second"])
    return int(profile["steady_events_per_second"])


def row(profile: Profile, index: int, restarts: int) -> dict[str, Any]:
    """An object after so many events."""
    pending = restarts % 2 == 1
    return {
        "namespace": f"bench-{index % profile['namespace_count']:04}",
        "name": f"pod-{index:06}",
        "phase": "Pending" if pending else "Running",
        "ready": "0/1" if pending else "1/1",
        "restarts": restarts,
        "node": f"node-{index % 5:02}",
    }


def schedule(profile: Profile) -> Iterator[tuple[int, int]]:
    """(due instant in ns, object) of each event."""
    draw = random.Random(profile["seed"])
    for second in range(profile["duration_seconds"]):
        events = rate(profile, second)
        for k in range(events):
            yield second * 10**9 + k * 10**9 // events, draw.randrange(profile["object_count"])


def texts(profile: Profile) -> dict[str, str]:
    """The four canonical texts."""
    counts = [0] * profile["object_count"]
    start = [row(profile, index, 0) for index in range(len(counts))]
    events = []
    for number, (at_ns, index) in enumerate(schedule(profile), start=1):
        counts[index] += 1
        head = {"seq": number, "at_ns": at_ns, "type": "MODIFIED"}
        events.append(line({**head, **row(profile, index, counts[index])}))
    end = [row(profile, index, count) for index, count in enumerate(counts)]

    def by_name(rows: list[dict[str, Any]]) -> str:
        return "".join(line(one) for one in sorted(rows, key=lambda one: (one["namespace"], one["name"])))

    return {"profile": line(profile), "objects": by_name(start), "events": "".join(events), "final": by_name(end)}


def digest(text: str) -> str:
    """SHA-256 in hex."""
    return hashlib.sha256(text.encode()).hexdigest()
