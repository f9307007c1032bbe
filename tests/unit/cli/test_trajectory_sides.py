"""`perfq trajectory report` and `ab`: runs rendered again and side by side."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path

import click
import pytest
from click.testing import CliRunner, Result
from tests.unit.synthetic_load import ideal_load
from tests.unit.synthetic_sessions import T0, ideal_sessions

from perfq.cli import cli
from perfq.errors import UsageError

SHORT = (
    *("--set", "trajectories.0.repeat=1", "--set", "trajectories.1.repeat=1", "--set", "sampling.mode=off"),
    *("--set", "arrivals.waves=1", "--set", "arrivals.per_wave=2", "--set", "launch.interval_ms=0"),
)


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))


def run(*arguments: str | Path) -> Result:
    """The command in this process; its exceptions come through."""
    return CliRunner().invoke(cli, ["trajectory", *map(str, arguments)], catch_exceptions=False, standalone_mode=False)


def test_one_run_is_rendered_as_perfq_report_does(tmp_path: Path) -> None:
    path = ideal_sessions().write(tmp_path / "one")
    alone = run("report", path).stdout
    assert "trajectory of agents" in alone
    assert run("report", path, "--format", "md").stdout == (path / "report.md").read_text()
    assert run("report", path, "--format", "junit").stdout == (path / "junit.xml").read_text()


def test_a_killed_run_is_rendered_with_what_it_recorded(tmp_path: Path) -> None:
    killed = ideal_sessions().without(lambda line: line.get("name") == "end" or line["t"] > T0 + 10**9)
    text = run("report", killed.write(tmp_path / "killed")).stdout
    assert "ABORTED" in text
    assert "4 of 8, 4 not seen to end" in text


def test_several_runs_stand_side_by_side(tmp_path: Path) -> None:
    paths = [ideal_sessions().write(tmp_path / name) for name in ("a", "b")]
    text = run("report", *paths).stdout
    assert text.splitlines()[0].split() == ["a", "b"]
    assert "one run each" in text
    out = tmp_path / "sides.md"
    run("report", *paths, "--format", "md", "-o", out)
    assert "They may not be compared" in out.read_text()


def test_of_a_folder_with_repeats_the_medians_are_shown(tmp_path: Path) -> None:
    for number in (1, 2, 3):
        ideal_sessions(f"a-{number}").write(tmp_path / "three" / f"run-{number}")
    document = json.loads(run("report", tmp_path / "three", "--format", "json").stdout)
    assert [one["run_id"] for one in document["sides"][0]["runs"]] == ["a-1", "a-2", "a-3"]


def test_what_is_no_run_of_sessions_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="is a load, not a run of sessions"):
        run("report", ideal_load().write(tmp_path / "load"))
    with pytest.raises(UsageError, match="no such run directory"):
        run("report", tmp_path / "nowhere")
    paths = [ideal_sessions().write(tmp_path / name) for name in ("a", "b")]
    with pytest.raises(UsageError, match="--format junit: is for one run"):
        run("report", *paths, "--format", "junit")


def test_arms_are_run_in_turn_and_put_side_by_side(tmp_path: Path) -> None:
    out = tmp_path / "ab"
    done = run(
        *("ab", *SHORT, "--rounds", "2", "--arm", "command.timeout_ms=4000", "--arm", "command.timeout_ms=5000,seed=7"),
        *("--out", out, "--quiet", "--run-id", "ab"),
    )
    assert done.return_value == 0
    document = json.loads((out / "ab.json").read_text())
    assert (document["schema"], document["rounds"]) == ("perfq.trajectory-ab/v1", 2)
    assert [side["name"] for side in document["sides"]] == ["command.timeout_ms=4000", "command.timeout_ms=5000,seed=7"]
    assert [one["run_id"] for one in document["sides"][1]["runs"]] == ["ab-2-1", "ab-2-2"]
    assert document["differences"] == ["command timeout: 4 s | 5 s"]
    assert "other timeouts" in document["not_comparable"][0]
    assert (out / "arm-2" / "run-2" / "report.md").is_file()
    assert "command.timeout_ms=4000" in done.stdout
    assert run("report", out / "arm-1", out / "arm-2").exit_code == 0


@pytest.mark.parametrize(
    ("arms", "why"),
    [
        (["a=1"], "--arm: got 1, expected two or three"),
        (["seed=1", "seed=2", "seed=3", "seed=4"], "--arm: got 4, expected two or three"),
        (["seed=1", "seed=1"], "--arm: two are the same"),
        (["seed", "seed=2"], "--arm seed: got"),
        (["sampling.mode=of", "seed=2"], 'sampling.mode: got "of", expected one of isolated, inline, off'),
    ],
)
def test_arms_that_are_none_are_refused_before_anything_runs(arms: list[str], why: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=f"(?s).*{why}"):
        run("ab", *(word for arm in arms for word in ("--arm", arm)), "--out", tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_an_ab_without_arms_is_a_usage_error() -> None:
    with pytest.raises(click.UsageError, match="arms"):
        run("ab")
