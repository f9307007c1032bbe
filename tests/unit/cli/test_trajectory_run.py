"""`perfq trajectory run`: real processes, and what is refused before any of them starts."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from click.testing import CliRunner, Result

from perfq.cli import cli
from perfq.errors import GuardRefused, UsageError
from perfq.measure.result.schema import shipped

Profile = Callable[..., Path]


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "temporary").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))


@pytest.fixture
def profile(tmp_path: Path) -> Profile:
    """`profile([script or ms, …], KEY=…)`: a profile of one session with these steps."""

    def write(steps: list[str | int], *, source: dict[str, Any] | None = None, **changes: Any) -> Path:
        session = {
            "schema": "perfq.trajectory/v1",
            "id": "s",
            **({} if source is None else {"source": source}),
            "environment": {"shell": ["sh", "-c"]},
            "steps": [
                {"kind": "wait", "wait_ms": step}
                if isinstance(step, int)
                else {"kind": "exec", "id": f"c{at}", "script": step}
                for at, step in enumerate(steps)
            ],
        }
        (tmp_path / "s.json").write_text(json.dumps(session))
        document = {
            "schema": "perfq.trajectory-profile/v1",
            "name": "mine",
            "trajectories": [{"path": "s.json"}],
            "arrivals": {"mode": "explicit", "offsets_ms": [0]},
            "command": {"timeout_ms": 2000, "term_grace_ms": 50, "clean_timeout_ms": 2000},
            "sampling": {"mode": "off"},
            **changes,
        }
        path = tmp_path / "mine.json"
        path.write_text(json.dumps(document))
        return path

    return write


def run(*arguments: str | Path) -> Result:
    """The command in this process; its exceptions come through."""
    return CliRunner().invoke(
        cli, ["trajectory", "run", *map(str, arguments)], catch_exceptions=False, standalone_mode=False
    )


def result_of(out: Path) -> dict[str, Any]:
    result: dict[str, Any] = json.loads((out / "result.json").read_text())
    jsonschema.Draft202012Validator(json.loads(shipped())).validate(result)
    return result


def test_a_run_leaves_its_files_and_nothing_else(profile: Profile, tmp_path: Path) -> None:
    done = run(profile(["echo hello > f", 20, "cat f"]), "--out", tmp_path / "out", "--run-id", "mine-1", "--quiet")
    result = result_of(tmp_path / "out")
    block = result["trajectory"]
    assert done.return_value in (0, 4)  # a busy machine may be late
    assert (block["sessions"]["completed"], block["commands"]["completed"]) == (1, 2)
    assert (block["waits"]["planned_ns"], block["audits"]["failed"]) == (20_000_000, 0)
    assert "trajectory of mine (mine-1)" in done.stdout
    assert sorted(one.name for one in (tmp_path / "out").iterdir()) == [
        "SHA256SUMS",
        "junit.xml",
        "manifest.json",
        "plan.json",
        "report.md",
        "result.json",
        "samples.ndjson",
    ]
    assert [one for one in (tmp_path / "temporary").rglob("*") if not one.name.startswith("perfq-sessions-")] == []
    assert result["manifest"]["sessions"]["commands"] == 2
    assert (result["kind"], result["latency"], result["cleanup"]["complete"]) == ("trajectory", {}, True)


def test_a_command_that_cannot_start_fails_the_run(profile: Profile, tmp_path: Path) -> None:
    path = profile(["true"])
    session = json.loads((tmp_path / "s.json").read_text())
    (tmp_path / "s.json").write_text(json.dumps(session | {"environment": {"shell": ["/no/such/shell"]}}))
    run(path, "--out", tmp_path / "out", "--quiet")
    result = result_of(tmp_path / "out")
    assert result["trajectory"]["sessions"]["failed"] == 1
    assert result["trajectory"]["commands"]["failed"] == 1
    assert any(one["status"] == "missed" for one in result["budgets"])


def test_a_missed_budget_is_exit_code_3(profile: Profile, tmp_path: Path) -> None:
    budget = "trajectory.makespan_ns<=1ns"
    done = run(profile(["true"]), "--out", tmp_path / "out", "--quiet", "--budget", budget)
    missed = [one["metric"] for one in result_of(tmp_path / "out")["budgets"] if one["status"] == "missed"]
    assert missed == ["trajectory.makespan_ns"]
    assert done.return_value in (3, 4)


def test_a_run_that_takes_too_long_is_aborted_and_leaves_nothing(profile: Profile, tmp_path: Path) -> None:
    done = run(profile(["sleep 60"], command={"timeout_ms": 90_000}), "--out", tmp_path / "out", "--max-time", "300ms")
    result = result_of(tmp_path / "out")
    assert (done.return_value, result["verdict"]["status"]) == (4, "ABORTED")
    assert result["verdict"]["reasons"] == ["stopped by max-time: limit 0.3 s"]
    assert result["trajectory"]["sessions"]["cancelled"] == 1
    assert (result["trajectory"]["makespan_ns"], result["cleanup"]["complete"]) == (None, True)


def test_imported_sessions_run_on_this_machine_only_by_leave(profile: Profile, tmp_path: Path) -> None:
    path = profile(["true"], source={"format": "mini-swe-agent-1.1"})
    with pytest.raises(GuardRefused, match="--allow-local-exec"):
        run(path, "--out", tmp_path / "out")
    assert not (tmp_path / "out").exists()
    run(path, "--out", tmp_path / "out", "--allow-local-exec", "--quiet")
    assert result_of(tmp_path / "out")["trajectory"]["sessions"]["completed"] == 1


def test_a_session_is_no_profile(profile: Profile, tmp_path: Path) -> None:
    profile(["true"])
    with pytest.raises(UsageError, match="is a session; name a profile"):
        run(tmp_path / "s.json")


def test_repeats_are_summed_up(profile: Profile, tmp_path: Path) -> None:
    done = run(profile(["true"]), "--out", tmp_path / "out", "--repeat", "2", "--quiet")
    summary = json.loads((tmp_path / "out" / "summary.json").read_text())
    assert len(summary["metrics"]["trajectory.makespan_ns"]["values"]) == 2
    assert "trajectory.makespan_ns" in done.stdout


def test_without_a_profile_a_small_one_of_our_own_is_replayed(tmp_path: Path) -> None:
    done = run("--out", tmp_path / "out", "--quiet")
    result = result_of(tmp_path / "out")
    assert result["manifest"]["profile_id"] == "small-sessions"
    assert (result["trajectory"]["sessions"]["completed"], result["trajectory"]["sessions"]["failed"]) == (12, 0)
    assert done.return_value in (0, 4)


@pytest.mark.parametrize(
    ("flag", "reason"),
    [
        (("--stop-memory", "1MiB"), "stopped by harness-memory: perfq holds "),
        (("--stop-error-share", "50%"), "stopped by error-share: "),
    ],
)
def test_a_stop_condition_aborts_the_run(flag: tuple[str, str], reason: str, profile: Profile, tmp_path: Path) -> None:
    sessions = 30
    path = profile(
        ["true", 1500],
        trajectories=[{"path": "s.json", "repeat": sessions}],
        arrivals={"mode": "explicit", "offsets_ms": [0] * sessions},
    )
    session = json.loads((tmp_path / "s.json").read_text())
    if flag[0] == "--stop-error-share":
        # Half of a minute is long enough for the condition: the last session waits.
        steps = [{"kind": "exec", "id": "c", "script": "true"}]
        waiting = session | {"id": "waits", "steps": [{"kind": "wait", "wait_ms": 30_000}, *steps]}
        failing = session | {"environment": {"shell": ["/no/such/shell"]}}
        (tmp_path / "s.json").write_text(json.dumps(failing))
        (tmp_path / "w.json").write_text(json.dumps(waiting))
        document = json.loads(path.read_text())
        document["trajectories"] = [{"path": "s.json", "repeat": sessions - 1}, {"path": "w.json"}]
        path.write_text(json.dumps(document))
    done = run(path, "--out", tmp_path / "out", "--quiet", *flag)
    verdict = result_of(tmp_path / "out")["verdict"]
    assert (done.return_value, verdict["status"]) == (4, "ABORTED")
    assert verdict["reasons"][0].startswith(reason), verdict


def test_a_number_of_sessions_that_could_never_be_admitted_is_refused_before_the_run(
    profile: Profile, tmp_path: Path
) -> None:
    path = profile(["true"], admission={"budget_bytes": 100, "headroom_bytes": 60, "reserve_bytes": 50})
    with pytest.raises(UsageError, match="admission"):
        run(path, "--out", tmp_path / "out")
    assert not (tmp_path / "out").exists()
