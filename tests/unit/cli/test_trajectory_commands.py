"""`perfq trajectory import` and `validate`: what they print, write and refuse."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import CliRunner, Result
from tests.unit.trajectory.test_import_mini_swe_agent import SUBMIT, SUBMITTED, answer, asked, recording
from tests.unit.trajectory.test_import_openhands import V0
from tests.unit.trajectory.test_import_swe_agent import recording as swe_recording
from tests.unit.trajectory.test_import_swe_agent import step

from perfq.cli import cli
from perfq.errors import UsageError


def run(*arguments: str, stdin: str | None = None) -> Result:
    """The command in this process; its exceptions come through."""
    return CliRunner().invoke(
        cli, ["trajectory", *arguments], input=stdin, catch_exceptions=False, standalone_mode=False
    )


@pytest.fixture
def mini(tmp_path: Path) -> Path:
    """A recording with one command that is lost and a wait of more than an hour."""
    value = recording(
        asked(0, "ls"),
        answer(0.5),
        asked(2, "make", "ls"),
        answer(4, 0),
        asked(4004, SUBMIT, "rm x"),
        SUBMITTED,
    )
    path = tmp_path / "a.traj.json"
    path.write_text(json.dumps(value))
    return path


@pytest.fixture
def swe(tmp_path: Path) -> Path:
    path = tmp_path / "b.traj"
    path.write_text(json.dumps(swe_recording(step("ls"), step("open a"), step("make"))))
    return path


def test_an_import_is_printed_and_its_report_goes_to_standard_error(mini: Path) -> None:
    done = run("import", str(mini))
    session = json.loads(done.stdout)
    assert [step.get("script", step.get("wait_ms")) for step in session["steps"]] == [
        "ls",
        1500,
        "make",
        4_000_000,
        SUBMIT,
    ]
    assert done.stderr.splitlines() == [
        f"{mini} → standard output",
        "  session   astropy__astropy-1 (mini-swe-agent-1.1)",
        "  actions   5: 3 ran, 1 never executed, 1 unknown",
        "  replayed  3 commands",
        "  waits     4,001.5 s, recorded (2 recorded)",
        "  long      1.1 h before messages.6.extra.actions.0, kept in full",
        "  lost      unknown, the recording does not say what became of it: messages.4.extra.actions.1",
        "  lost      never executed, its turn never came: messages.6.extra.actions.1",
    ]


def test_with_out_each_session_is_a_file_and_the_report_is_printed(mini: Path, swe: Path, tmp_path: Path) -> None:
    out = tmp_path / "sessions"
    done = run("import", str(mini), str(mini), str(swe), "--missing-wait", "zero", "--out", str(out))
    assert sorted(path.name for path in out.iterdir()) == [
        "astropy__astropy-1-2.json",
        "astropy__astropy-1.json",
        "b.json",
    ]
    assert f"{swe} → {out / 'b.json'}" in done.stdout
    assert "  waits     0.0 s, none (2 none); 2 missing, taken as none (--missing-wait zero)" in done.stdout
    assert run("validate", *map(str, sorted(out.iterdir()))).stdout.splitlines()[-1] == (
        f'{out / "b.json"}: valid, session "b" with 2 commands and 0 ns of waits'
    )


def test_the_report_as_json_has_fates_waits_and_every_loss(mini: Path, swe: Path, tmp_path: Path) -> None:
    arguments = ("--missing-wait", "seeded", "--wait-seed", "7", "--out", str(tmp_path / "s"), "--json")
    first, second = json.loads(run("import", str(mini), str(swe), *arguments).stdout)
    assert first["fates"] == {"ran": 3, "never_executed": 1, "unknown": 1}
    assert (first["actions"], first["replayed"], first["format"]) == (5, 3, "mini-swe-agent-1.1")
    assert first["waits"]["long"] == [{"at": "messages.6.extra.actions.0", "wait_ms": 4_000_000}]
    assert [loss["fate"] for loss in first["losses"]] == ["unknown", "never_executed"]
    assert second["waits"]["provenance"] == "synthetic"
    assert (second["waits"]["missing_wait"], second["waits"]["filled"]) == ("seeded", 2)
    written = json.loads(Path(second["out"]).read_text())
    assert written["source"]["missing_wait"] == "seeded"
    assert written["source"]["losses"] == second["losses"]


def test_sessions_of_a_file_of_which_nothing_can_be_replayed_are_told_as_lost(tmp_path: Path) -> None:
    ran, rejected = V0(), V0()
    ran.done(0, 1, "ls")
    rejected.run(0, "rm x", confirmation_state="rejected")
    path = tmp_path / "output.jsonl"
    lines = ({"instance_id": "a-1", "history": rejected.events}, {"instance_id": "b-2", "history": ran.events})
    path.write_text("\n".join(map(json.dumps, lines)))
    done = run("import", str(path))
    assert json.loads(done.stdout)["id"] == "b-2"
    assert done.stderr.splitlines()[-5:] == [
        f"{path} → nothing",
        "  session   a-1 (openhands-v0)",
        "  actions   1: 1 rejected",
        "  lost      the session: no command of it can be replayed",
        "  lost      rejected, a person or a hook rejected it: 0.history.0",
    ]
    told = json.loads(run("import", str(path), "--out", str(tmp_path / "s"), "--json").stdout)
    assert [(one["session"], one["replayed"], bool(one["out"])) for one in told] == [
        ("b-2", 1, True),
        ("a-1", 0, False),
    ]


def test_missing_waits_are_refused_unless_it_is_said_what_stands_in_for_them(swe: Path, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"b\.traj has 1 error") as caught:
        run("import", str(swe), "--out", str(tmp_path / "s"))
    assert "expected --missing-wait zero or seeded" in caught.value.details[0]
    assert not (tmp_path / "s").exists()


def test_where_one_recording_has_an_error_nothing_is_written(mini: Path, swe: Path, tmp_path: Path) -> None:
    with pytest.raises(UsageError):
        run("import", str(mini), str(swe), "--out", str(tmp_path / "s"))
    assert not (tmp_path / "s").exists()


def test_a_file_that_exists_is_never_written_over(mini: Path, tmp_path: Path) -> None:
    run("import", str(mini), "--out", str(tmp_path / "s"))
    with pytest.raises(UsageError, match=r"--out: got .*astropy__astropy-1\.json, which exists"):
        run("import", str(mini), "--out", str(tmp_path / "s"))


def test_a_folder_that_cannot_be_written_is_an_error(mini: Path) -> None:
    with pytest.raises(UsageError, match="cannot be written: Not a directory"):
        run("import", str(mini), "--out", str(mini / "x"))


def test_several_sessions_on_standard_output_are_json_lines(mini: Path, tmp_path: Path) -> None:
    printed = run("import", str(mini), str(mini)).stdout
    (tmp_path / "all.jsonl").write_text(printed)
    assert len(run("validate", str(tmp_path / "all.jsonl")).stdout.splitlines()) == 2


def test_a_recording_may_come_from_standard_input(mini: Path) -> None:
    assert json.loads(run("import", "-", stdin=mini.read_text()).stdout)["id"] == "astropy__astropy-1"


def test_a_format_may_be_named(mini: Path) -> None:
    assert json.loads(run("import", "--format", "mini-swe-agent", str(mini)).stdout)["id"]
    with pytest.raises(UsageError, match="schema_version: got null, expected ATIF"):
        run("import", "--format", "atif", str(mini))
    with pytest.raises(UsageError, match="--format: got mini, expected one of"):
        run("import", "--format", "mini", str(mini))


def test_the_report_goes_with_a_folder(mini: Path) -> None:
    with pytest.raises(click.UsageError, match="--json is the report, and goes with --out"):
        run("import", str(mini), "--json")


def write_profile(folder: Path, **changes: Any) -> Path:
    profile = {
        "schema": "perfq.trajectory-profile/v1",
        "name": "agents",
        "trajectories": [{"path": "s/*.json", "repeat": 4}],
        "arrivals": {"mode": "waves", "waves": 2, "per_wave": 2, "interval_ms": 90_000},
        **changes,
    }
    path = folder / "p.json"
    path.write_text(json.dumps(profile))
    return path


def test_a_profile_is_validated_with_its_sessions_and_says_what_it_comes_to(mini: Path, tmp_path: Path) -> None:
    run("import", str(mini), "--out", str(tmp_path / "s"))
    path = write_profile(tmp_path)
    lines = run("validate", str(path)).stdout.splitlines()
    assert lines[:-1] == [
        f'{path}: valid, profile "agents"',
        "  sessions    4, with 12 commands and 4.45 h of waits",
        "  arrivals    waves, the last after 90 s",
        "  backend     local, waits idle",
        "  sampling    isolated",
    ]
    plan = json.loads(run("validate", str(path), "--json").stdout)
    assert lines[-1] == f"  plan        {plan['sha256']}"
    assert [session["arrival_ms"] for session in plan["sessions"]] == [0, 0, 90_000, 90_000]
    seeded = json.loads(run("validate", str(path), "--seed", "9", "--json").stdout)
    assert seeded["profile"]["seed"] == 9
    assert seeded["sha256"] != plan["sha256"]
    assert run("validate", "--quiet", str(path)).stdout == ""


def test_what_can_be_said_before_a_run_is_said(mini: Path, tmp_path: Path) -> None:
    run("import", str(mini), "--out", str(tmp_path / "s"))
    path = write_profile(tmp_path, admission={"budget_bytes": 10, "headroom_bytes": 11}, backend={"kind": "pods"})
    with pytest.raises(UsageError) as caught:
        run("validate", str(path))
    assert [line.split(": got")[0] for line in caught.value.details] == [
        f"{path}:1: admission.headroom_bytes",
        f"{path}:1: backend.kind",
    ]
    with pytest.raises(UsageError, match=r"p\.json has 1 error"):
        run("validate", str(write_profile(tmp_path)), "--set", "trajectories.0.repeat=1")


def test_validation_names_all_errors_of_all_documents(mini: Path, tmp_path: Path) -> None:
    bad = tmp_path / "bad.json"
    bad.write_text('{"schema": "perfq.trajectory/v1", "id": "a", "steps": [{"kind": "wait", "wait_ms": -1}]}')
    with pytest.raises(UsageError) as caught:
        run("validate", str(bad), str(mini))
    assert caught.value.sentence == "2 of 2 documents are not valid"
    assert f"{bad}:1: steps.0.wait_ms: got -1, expected an integer from 0 to 2592000000" in caught.value.details
    assert any("got no schema, expected perfq.trajectory-profile/v1 or" in line for line in caught.value.details)


def test_a_plan_is_that_of_one_profile(mini: Path, tmp_path: Path) -> None:
    run("import", str(mini), "--out", str(tmp_path / "s"))
    (session,) = (tmp_path / "s").iterdir()
    with pytest.raises(UsageError, match="got a session, expected a profile for --json"):
        run("validate", str(session), "--json")
    with pytest.raises(click.UsageError, match="--json prints one profile's plan"):
        run("validate", str(session), str(session), "--json")
