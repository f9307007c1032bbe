"""The runs under a folder: listed by their manifests, and only finished ones of ours are ever removed."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest
from click.testing import CliRunner

from perfq._core import Plan
from perfq.cli import cli
from perfq.drive.runs import find_runs, to_prune
from perfq.measure.client_facts import ClientFacts
from perfq.measure.manifest import Anchor, HostFacts, PerfqFacts, TargetFacts
from perfq.measure.replay_manifest import PlanFacts, ReplayManifest
from perfq.profile.workload import resolve_profile


def make(path: Path, day: int, verdict: str | None) -> Path:
    """A run directory of that day; without a verdict it has no result."""
    path.mkdir(parents=True)
    manifest = ReplayManifest(
        run_id=path.name,
        command="perfq replay smoke-1k",
        started_at=f"2026-01-{day:02}T12:00:00.000+00:00",
        anchor=Anchor.now(),
        plan=PlanFacts.of(Plan(resolve_profile("smoke-1k").to_json())),
        client=ClientFacts(
            name="viewer", kind="viewer", argv=[], has_probe=True, has_table=True, has_screen=True, has_cursor=True
        ),
        target=TargetFacts(kind="embedded", tls=True),
        host=HostFacts(),
        perfq=PerfqFacts(version="0.1.0"),
    )
    (path / "manifest.json").write_text(manifest.to_json())
    if verdict is not None:
        (path / "result.json").write_text(json.dumps({"verdict": {"status": verdict}}))
    return path


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Five run directories and three things that are none."""
    make(tmp_path / "third", 3, "FAIL")
    make(tmp_path / "first", 1, "PASS")
    make(tmp_path / "killed", 2, None)
    for number, verdict in enumerate(("PASS", "INVALID", "FAIL"), start=1):
        make(tmp_path / "repeated" / f"run-{number}", 4, verdict)
    make(tmp_path / "half" / "run-1", 5, "PASS")
    make(tmp_path / "half" / "run-2", 5, None)
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "manifest.json").write_text('{"schema": "other/v1"}')
    (tmp_path / "empty").mkdir()
    (tmp_path / "file").write_text("not a directory")
    return tmp_path


def run(*arguments: str) -> tuple[int, str]:
    done = CliRunner().invoke(cli, ["runs", *arguments], catch_exceptions=False)
    return done.exit_code, done.stdout


def test_runs_are_listed_by_age_with_the_worst_verdict_of_repeats(folder: Path) -> None:
    found = [(entry.path.name, len(entry.verdicts), entry.verdict) for entry in find_runs(folder)]
    assert found == [
        ("first", 1, "PASS"),
        ("killed", 1, None),
        ("third", 1, "FAIL"),
        ("repeated", 3, "INVALID"),
        ("half", 2, None),
    ]
    assert find_runs(folder / "missing") == []


def test_the_list_is_a_table_or_json(folder: Path) -> None:
    code, text = run("list", "--dir", str(folder))
    assert code == 0
    assert [line.split()[2] for line in text.splitlines()[1:]] == ["first", "killed", "third", "repeated", "half"]
    entries = json.loads(run("list", "--dir", str(folder), "--json")[1])
    assert [entry["verdict"] for entry in entries] == ["PASS", None, "FAIL", "INVALID", None]


def test_pruning_leaves_the_newest_and_whatever_has_no_result(folder: Path) -> None:
    entries = find_runs(folder)

    def chosen(keep: int | None, day: int | None) -> list[str]:
        before = datetime(2026, 1, day, tzinfo=UTC) if day else None
        return [entry.path.name for entry in to_prune(entries, keep=keep, before=before)]

    assert chosen(0, None) == ["first", "third", "repeated"]
    assert chosen(2, None) == ["first", "third"]
    assert chosen(None, 3) == ["first"]
    assert chosen(0, 1) == []
    assert chosen(99, None) == []


def test_pruning_removes_nothing_without_yes_and_nothing_else_with_it(folder: Path) -> None:
    before = sorted(path.name for path in folder.iterdir())
    code, text = run("prune", "--keep", "2", "--dir", str(folder))
    assert (code, [line.split(" (")[0] for line in text.splitlines()]) == (
        0,
        [f"would remove {folder}/first", f"would remove {folder}/third"],
    )
    assert sorted(path.name for path in folder.iterdir()) == before
    run("prune", "--keep", "2", "--dir", str(folder), "--yes")
    assert sorted(path.name for path in folder.iterdir()) == [name for name in before if name not in ("first", "third")]


def test_pruning_asks_what_to_prune_and_showing_suggests_the_nearest(folder: Path) -> None:
    assert run("prune", "--dir", str(folder))[0] == 2
    done = CliRunner().invoke(cli, ["runs", "show", "thrid", "--dir", str(folder)])
    assert done.exit_code == 2
    assert "Did you mean 'third'?" in done.stderr
