"""The number of sessions that a memory budget holds: found, held again, missed above, and smaller with half of it."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest
from tests.contract.trajectory.running import Machine

from perfq.errors import UsageError
from perfq.profile.trajectory.reading import load_profile
from perfq.trajectory.ground import refuse
from perfq.trajectory.plan import resolve

pytestmark = pytest.mark.contract

MIB = 2**20
#: Each holds 24 MB for four seconds, in which all that find room have started.
HOLD = "head -c 24000000 /dev/zero | tail -c 24000000 | (sleep 4; cat > /dev/null)"
#: What is left of it for sessions is six of them and a half: neither the seventh nor the eighth is a close call.
BUDGET = 176 * MIB


def held(machine: Machine, profile: str, out: str, *arguments: str) -> dict[str, Any]:
    done = machine.run("search", profile, "--tolerance", "0%", "--out", out, "--quiet", "--json", *arguments)
    assert done.returncode in (0, 3), done.stderr
    document: dict[str, Any] = json.loads(done.stdout)
    return document


@pytest.mark.long(120)
def test_half_of_the_memory_holds_fewer_sessions(tmp_path: Path) -> None:
    machine = Machine(tmp_path)
    profile = machine.profile(
        "hold",
        1,
        [{"kind": "exec", "id": "hold", "script": HOLD}],
        admission={
            "budget_bytes": BUDGET, "headroom_bytes": 24 * MIB, "reserve_bytes": 24 * MIB, "usage": "current",
        },
        # Long enough for the former session to have taken its memory.
        launch={"interval_ms": 250},
    )  # fmt: skip
    try:
        refuse(resolve(load_profile(profile)))
    except UsageError as error:
        pytest.skip(f"this machine has no memory counters for sessions: {error}")
    whole = held(machine, profile, "whole", "--hi", "9")
    found = whole["found"]
    assert 4 <= found <= 8, whole
    confirmed = [step for step in whole["steps"] if step["why"] == "confirm" and step["held"]]
    assert [step["sessions"] for step in confirmed][-3:] == [found] * 3
    above = math.ceil(1.1 * found)
    assert above > found
    tried = [held(machine, profile, f"above-{n}", "--lo", str(above), "--hi", str(above)) for n in range(3)]
    missed = [one["steps"][0]["held"] is False for one in tried]
    assert sum(missed) >= 2
    assert "trajectory.peak_concurrency" in tried[missed.index(True)]["steps"][0]["reasons"][0]
    less = ("--hi", "5", "--confirmations", "1", "--set", f"admission.budget_bytes={BUDGET // 2}")
    half = held(machine, profile, "half", *less)
    assert half["found"] is not None
    assert half["found"] < found
