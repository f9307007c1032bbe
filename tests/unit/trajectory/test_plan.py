"""Plans: who arrives when, the same bytes for the same profile and sessions, and what does not fit said at once."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from perfq.errors import UsageError
from perfq.profile.override import parse_set
from perfq.profile.trajectory.profile import Explicit, Poisson, Waves
from perfq.profile.trajectory.reading import load_profile
from perfq.trajectory.arrivals import offsets_ms
from perfq.trajectory.plan import SessionPlan, resolve


def write_session(path: Path, *steps: dict[str, Any]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    exec_step = {"kind": "exec", "id": "c", "script": f"echo {path.stem}"}
    document = {"schema": "perfq.trajectory/v1", "id": path.stem, "steps": [exec_step, *steps]}
    path.write_text(json.dumps(document))


def write_profile(folder: Path, **changes: Any) -> Path:
    profile = {
        "schema": "perfq.trajectory-profile/v1",
        "name": "p",
        "seed": 186,
        "trajectories": [{"path": "t/*.json"}],
        "arrivals": {"mode": "poisson", "rate_per_hour": 3600},
        **changes,
    }
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "p.json").write_text(json.dumps(profile))
    return folder / "p.json"


def plan(folder: Path, **changes: Any) -> SessionPlan:
    return resolve(load_profile(write_profile(folder, **changes)))


def complaints(folder: Path, **changes: Any) -> list[str]:
    with pytest.raises(UsageError) as caught:
        plan(folder, **changes)
    assert caught.value.exit_code == 2
    return [line.replace(str(folder), "") for line in caught.value.details]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with two sessions."""
    wait = {"kind": "wait", "wait_ms": 250}
    write_session(tmp_path / "t" / "a.json", wait, {"kind": "exec", "id": "d", "script": "true"})
    write_session(tmp_path / "t" / "b.json")
    return tmp_path


def test_waves_arrive_at_once_and_one_after_another() -> None:
    waves = Waves(mode="waves", waves=3, per_wave=2, interval_ms=500)
    assert offsets_ms(waves, 0, 6) == [0, 0, 500, 500, 1000, 1000]


def test_explicit_offsets_are_those_of_the_profile() -> None:
    assert offsets_ms(Explicit(mode="explicit", offsets_ms=[5, 3, 9]), 0, 3) == [5, 3, 9]


def test_poisson_arrivals_are_pinned() -> None:
    poisson = Poisson(mode="poisson", rate_per_hour=3600)
    assert offsets_ms(poisson, 186, 5) == [1081, 3073, 4558, 10062, 10702]
    assert offsets_ms(poisson, 187, 5) != offsets_ms(poisson, 186, 5)


def test_poisson_arrivals_have_the_mean_and_the_spread_of_an_exponential_distribution() -> None:
    due = offsets_ms(Poisson(mode="poisson", rate_per_hour=3600), 1, 20_000)
    gaps = [later - earlier for earlier, later in zip([0, *due], due, strict=False)]
    mean = sum(gaps) / len(gaps)
    assert abs(mean - 1000) < 30
    assert abs(sum(gap > 1000 for gap in gaps) / len(gaps) - 0.3679) < 0.02


@given(seed=st.integers(0, 2**63 - 1), rate=st.integers(1, 3_600_000), sessions=st.integers(0, 50))
def test_arrivals_of_the_same_seed_are_the_same_and_never_go_back(seed: int, rate: int, sessions: int) -> None:
    poisson = Poisson(mode="poisson", rate_per_hour=rate)
    due = offsets_ms(poisson, seed, sessions)
    assert due == offsets_ms(poisson, seed, sessions)
    assert due == sorted(due)
    assert all(type(offset) is int and offset >= 0 for offset in due)
    assert offsets_ms(poisson, seed, sessions + 1)[:sessions] == due


def test_each_session_has_its_arrival_in_the_order_of_the_files(folder: Path) -> None:
    made = plan(folder, arrivals={"mode": "explicit", "offsets_ms": [7, 5]})
    assert [(one.n, one.id, one.arrival_ms) for one in made.sessions] == [(0, "a", 7), (1, "b", 5)]
    assert made.commands == 3
    assert made.planned_wait_ms == 250
    assert made.last_arrival_ms == 7


def test_the_same_profile_and_sessions_make_the_same_bytes_wherever_they_lie(folder: Path, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    for name in ("a", "b"):
        path = elsewhere / "u" / f"{name}.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(json.loads((folder / "t" / f"{name}.json").read_text()), indent=3))
    one, same = plan(folder), plan(elsewhere, trajectories=[{"path": "u/a.json"}, {"path": "u/b.json"}])
    assert one.document() == same.document()
    assert one.sha256 == same.sha256
    assert str(tmp_path) not in one.document()


@pytest.mark.parametrize(
    "changes",
    [
        {"seed": 187},
        {"name": "q"},
        {"launch": {"interval_ms": 1}},
        {"trajectories": [{"path": "t/*.json", "repeat": 2}]},
        {"trajectories": [{"path": "t/b.json"}, {"path": "t/a.json"}]},
    ],
)
def test_whatever_changes_the_run_changes_the_hash(folder: Path, changes: dict[str, Any]) -> None:
    assert plan(folder).sha256 != plan(folder, **changes).sha256


def test_a_command_that_changes_changes_the_hash(folder: Path) -> None:
    before = plan(folder).sha256
    write_session(folder / "t" / "b.json", {"kind": "exec", "id": "x", "script": "true"})
    assert plan(folder).sha256 != before


def test_the_plan_holds_integers_and_texts_and_no_instant(folder: Path) -> None:
    document = json.loads(plan(folder).document(), parse_float=lambda text: pytest.fail(f"a float: {text}"))
    assert document["schema"] == "perfq.trajectory-plan/v1"
    assert [session["commands"] for session in document["sessions"]] == [2, 1]


def test_flags_change_the_profile_that_the_plan_is_made_of(folder: Path) -> None:
    loaded = load_profile(write_profile(folder), [parse_set("trajectories.0.repeat=3")])
    assert [session.id for session in resolve(loaded).sessions] == ["a", "b"] * 3


def test_arrivals_are_for_exactly_as_many_sessions_as_there_are(folder: Path) -> None:
    assert complaints(folder, arrivals={"mode": "waves", "waves": 5, "per_wave": 1, "interval_ms": 0}) == [
        "/p.json:1: arrivals: got arrivals of 5, expected those of 2, one for each session; trajectories.N.repeat "
        "replays sessions more than once"
    ]
    assert complaints(folder, arrivals={"mode": "explicit", "offsets_ms": [0]}) == [
        "/p.json:1: arrivals.offsets_ms: got 1 offset, expected those of 2, one for each session"
    ]


@pytest.mark.parametrize("mode", ["idle", "freeze"])
def test_an_offload_outside_offload_mode_is_refused(folder: Path, mode: str) -> None:
    write_session(folder / "t" / "b.json", {"kind": "wait", "wait_ms": 1, "pause": "offload"})
    assert complaints(folder, wait={"mode": mode}) == [
        f'/t/b.json: steps.1.pause: got "offload", expected idle or freeze, as wait.mode is {mode} and not offload'
    ]


def test_an_offload_in_offload_mode_is_planned(folder: Path) -> None:
    write_session(folder / "t" / "b.json", {"kind": "wait", "wait_ms": 1, "pause": "offload"})
    argvs = {key: ["x"] for key in ("launch_argv", "stop_argv", "offload_argv", "restore_argv")}
    backend = {"kind": "command", "exec_argv": ["x", "{script}"], **argvs}
    assert len(plan(folder, wait={"mode": "offload"}, backend=backend).sessions) == 2


def test_a_freeze_needs_a_way_to_pause(folder: Path) -> None:
    write_session(folder / "t" / "b.json", {"kind": "wait", "wait_ms": 1, "pause": "freeze"})
    backend = {"kind": "command", "launch_argv": ["x"], "exec_argv": ["{script}"], "stop_argv": ["x"]}
    assert complaints(folder, backend=backend) == [
        '/t/b.json: steps.1.pause: got "freeze", expected idle, as the backend has no pause_argv'
    ]
    assert len(plan(folder).sessions) == 2
