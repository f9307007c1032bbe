"""Rules about the harness that every kind of run has: had it room, was it held back, is its record whole?"""

from __future__ import annotations

from typing import Final

from perfq.judge.rule import AtMost
from perfq.measure.harness import HarnessEvidence
from perfq.measure.result.common import Check

MEMORY: Final = AtMost("memory share", 0.85, "ratio", "raise the memory limit of this cgroup")
DESCRIPTORS: Final = AtMost("file descriptor share", 0.85, "ratio", "raise `ulimit -n`")
THROTTLED: Final = AtMost("CPU throttled share", 0.05, "ratio", "raise the CPU quota of this cgroup")
#: Below the limit, the clocks' distance is the time between reading them.
SLEPT: Final = AtMost("machine slept", 100_000_000, "ns", "keep the machine awake and run again")
RECORD: Final = AtMost("lines missing in the record", 0, "count", "the record has holes")


def room_checks(evidence: HarnessEvidence) -> list[Check]:
    """Where a system has no such limit, a rule does not apply."""
    return [
        MEMORY.check(evidence.memory_share, absent="not_applicable"),
        DESCRIPTORS.check(evidence.harness_fd_share, absent="not_applicable"),
        THROTTLED.check(evidence.throttled_share, absent="not_applicable"),
        SLEPT.check(evidence.slept_ns),
        _record_whole(evidence),
    ]


def _record_whole(evidence: HarnessEvidence) -> Check:
    advice = None
    if evidence.recorder_error is not None:
        advice = f"samples.ndjson could not be written ({evidence.recorder_error}): make room, or use another --out"
    elif evidence.named_bad_lines:
        advice = f"samples.ndjson cannot be read in full ({evidence.named_bad_lines[0]})"
    return RECORD.check(evidence.bad_lines + evidence.lost_lines, advice=advice)
