"""Keys: from the write to the cursor on its new row, while events flow."""

from __future__ import annotations

from dataclasses import dataclass

from perfq.measure.figures import LatencySamples
from perfq.measure.recording import Recording
from perfq.measure.result.replay import Input


@dataclass(frozen=True)
class InputLimits:
    """How many pairs were planned, and after how long a key counts as without effect."""

    planned_pairs: int
    timeout_ns: int
    churn_end: int | None


def collect(recording: Recording, limits: InputLimits, into: LatencySamples) -> Input:
    """Fills the input latency and counts the keys.

    A censored key is a sample of the time-out, which is the least that it took. A failed one, after
    which the cursor stood elsewhere, is no sample. Keys written after the churn are not counted.
    """
    pairs: dict[int, int] = {}
    failed = censored = 0
    for key in recording.inputs:
        if limits.churn_end is not None and key.t > limits.churn_end:
            continue
        if key.outcome == "ok" and key.seen is not None:
            into.add(key.t, key.seen - key.t)
            pairs[key.pair] = pairs.get(key.pair, 0) + 1
        elif key.outcome == "censored":
            censored += 1
            into.censored += 1
            into.add(key.t, limits.timeout_ns)
        else:
            failed += 1
    return Input(
        planned=limits.planned_pairs,
        pairs=sum(keys == 2 for keys in pairs.values()),
        failed=failed,
        censored=censored,
    )
