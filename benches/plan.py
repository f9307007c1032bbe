"""The plan in process: objects, events and all four hashes."""

from __future__ import annotations

import json
import statistics
import time
from collections.abc import Iterator
from pathlib import Path

from benches import korvid
from benches.table import Row, Target


def rows() -> Iterator[Row]:
    """plan burst-50k: the median of nine, against korvid's generator and digests."""
    from perfq import Plan

    text = (Path(__file__).parent.parent / "python" / "perfq" / "profiles" / "burst-50k.json").read_text()
    profile = json.dumps(json.loads(text))
    taken = []
    for _ in range(9):
        before = time.perf_counter()
        plan = Plan(profile)
        hashes = (plan.profile_hash, plan.object_hash, plan.event_hash, plan.final_hash)
        taken.append(time.perf_counter() - before)
        assert len(set(hashes)) == 4
    peer = korvid.plan_seconds("burst-50k")
    yield Row(
        "plan burst-50k in process",
        "ms",
        statistics.median(taken) * 1e3,
        peer if isinstance(peer, str) else peer * 1e3,
        target=Target("times", ">=", 50),
        note="peer: korvid's generator and digests",
    )
