"""Plans: the core against an oracle in plain Python, and against the vectors that another one made."""

from __future__ import annotations

import hashlib
import importlib.util
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from perfq import Plan
from perfq.profile.builtin_ids import BUILTIN_IDS
from perfq.profile.workload import plan_document, resolve_profile

HERE = Path(__file__).parent
VECTORS: dict[str, dict[str, Any]] = json.loads((HERE.parents[1] / "vectors" / "workload-v1.json").read_text())

specification = importlib.util.spec_from_file_location("oracle", HERE / "oracle.py")
assert specification is not None
assert specification.loader is not None
oracle = importlib.util.module_from_spec(specification)
specification.loader.exec_module(oracle)


@st.composite
def bursts(draw: st.DrawFn, duration: int) -> list[dict[str, int]]:
    """Bursts that do not overlap, in any order."""
    edges = sorted(draw(st.lists(st.integers(0, duration), max_size=6, unique=True)))
    found = [
        {
            "start_second": start,
            "duration_seconds": end - start,
            "events_per_second": draw(st.integers(1, 400)),
        }
        for start, end in zip(edges[::2], edges[1::2], strict=False)
    ]
    return draw(st.permutations(found))


@st.composite
def profiles(draw: st.DrawFn) -> dict[str, Any]:
    """Any sound profile of a size that plain Python can follow."""
    duration = draw(st.integers(1, 8))
    namespaces = draw(st.integers(1, 12))
    profile = {
        "schema_version": 1,
        "id": draw(st.text(st.characters(exclude_categories=["C", "Z"]), min_size=1, max_size=16)),
        "seed": draw(st.one_of(st.integers(0, 300), st.integers(0, 2**63 - 1))),
        "object_count": namespaces * draw(st.integers(1, 120)),
        "namespace_count": namespaces,
        "steady_events_per_second": draw(st.integers(0, 120)),
        "duration_seconds": duration,
        "bursts": draw(bursts(duration)),
        "failures": [],
    }
    events = sum(oracle.rate(profile, second) for second in range(duration))
    if events:
        numbers = draw(st.lists(st.integers(1, events), max_size=3, unique=True))
        kinds = ["gone", "throttled", "forbidden", "slow", "metrics_unavailable", "slow_logs"]
        profile["failures"] = [{"kind": draw(st.sampled_from(kinds)), "at_event": number} for number in numbers]
    return profile


@given(profiles())
@settings(max_examples=150)
def test_a_plan_is_what_plain_python_makes_of_the_profile(profile: dict[str, Any]) -> None:
    plan = Plan(json.dumps(profile))
    expected = oracle.texts(profile)
    for kind, text in expected.items():
        assert plan.emit(kind).decode("ascii") == text, kind
    assert plan.profile_hash == oracle.digest(expected["profile"])
    assert plan.object_hash == oracle.digest(expected["objects"])
    assert plan.event_hash == oracle.digest(expected["events"])
    assert plan.final_hash == oracle.digest(expected["final"])
    assert plan.events == expected["events"].count("\n")
    assert plan.peak_rate == max(oracle.rate(profile, second) for second in range(profile["duration_seconds"]))


@given(profiles(), st.integers(1, 4))
def test_a_longer_plan_begins_with_the_shorter_one(profile: dict[str, Any], seconds: int) -> None:
    plan = Plan(json.dumps(profile))
    longer = plan.extended(seconds)
    assert longer.emit("events").startswith(plan.emit("events"))
    assert longer.events == plan.events + seconds * profile["steady_events_per_second"]
    assert longer.duration_seconds == plan.duration_seconds + seconds


@pytest.mark.parametrize("profile_id", BUILTIN_IDS)
def test_the_command_prints_the_text_of_the_vectors(profile_id: str) -> None:
    vector = VECTORS[profile_id]
    hashes = {"profile": "profile_hash", "objects": "object_hash", "events": "event_hash", "final": "final_hash"}
    for kind, name in hashes.items():
        done = subprocess.run(
            [sys.executable, "-m", "perfq", "plan", profile_id, "--emit", kind], capture_output=True, check=True
        )
        assert hashlib.sha256(done.stdout).hexdigest() == vector[name], kind
        assert done.stderr == b""


@pytest.mark.parametrize("name", sorted(VECTORS))
def test_vectors_hold_for_other_seeds_and_for_the_built_in_profiles(name: str) -> None:
    vector = VECTORS[name]
    plan = Plan(vector["profile_line"])
    assert plan.emit("profile").decode() == vector["profile_line"] + "\n"
    hashes = (plan.profile_hash, plan.object_hash, plan.event_hash, plan.final_hash)
    assert hashes == (vector["profile_hash"], vector["object_hash"], vector["event_hash"], vector["final_hash"])
    lines = plan.emit("events").decode().splitlines()
    assert (len(lines), lines[0], lines[-1]) == (vector["events"], vector["first_event"], vector["last_event"])
    if name in BUILTIN_IDS:
        assert resolve_profile(name).to_json() == vector["profile_line"]


def test_every_vector_of_a_profile_is_built_in_and_the_other_way_round() -> None:
    assert {name for name in VECTORS if not name.startswith("seed-")} == set(BUILTIN_IDS)


def test_the_plan_document_is_the_same_text_each_time_and_holds_the_whole_profile() -> None:
    plan = Plan(resolve_profile("aks-1k").to_json())
    text = plan_document(plan)
    document = json.loads(text)
    assert plan_document(Plan(json.dumps(document["profile"]))) == text
    assert document["schema"] == "perfq.plan/v1"
    assert (document["events"], document["peak_rate"], document["mean_rate"]) == (8400, 1000, 280.0)


def test_an_unknown_text_and_a_broken_profile_are_value_errors_that_name_all() -> None:
    plan = Plan(resolve_profile("smoke-1k").to_json())
    with pytest.raises(ValueError, match="profile, objects, events or final"):
        plan.emit("pods")
    broken = {**json.loads(plan.profile_json), "namespace_count": 7, "duration_seconds": 2}
    with pytest.raises(ValueError, match=r"(?s)object_count.*bursts\.0"):
        Plan(json.dumps(broken))
