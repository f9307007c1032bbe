"""Where sessions work: one folder of this user's own, in which a later start finds what a killed run left."""

from __future__ import annotations

import asyncio
import os
import subprocess
import tempfile
from pathlib import Path

import pytest

from perfq.errors import InvalidRun
from perfq.trajectory.journal import StartedJournal
from perfq.trajectory.local.command import Bounds, LocalCommands
from perfq.trajectory.places import Place, folder, sweep_earlier
from perfq.trajectory.process import row

BOUNDS = Bounds(10**9, 10**8, 10**9)


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))


def swept() -> list[str]:
    with LocalCommands() as commands:
        return asyncio.run(sweep_earlier(commands, BOUNDS))


def abandoned(place: Place, owner: list[int]) -> None:
    """As if the run had been killed: its owner is another process, or none that lives."""
    text = place.journal.read_text()
    me = row(os.getpid())
    assert me is not None
    mine = f'"owner": [{me.process.pid}, {me.process.start_ticks}]'
    assert mine in text
    place.journal.write_text(text.replace(mine, f'"owner": {owner}').replace('{"k": "closed"}\n', ""))


def begun(place: Place) -> tuple[Path, subprocess.Popen[bytes]]:
    """A session with a workspace and a process, and nobody who ends them."""
    marker = f"PERFQ_SESSION={place.workspaces.name}/0"
    workspace = place.workspaces / "session-0"
    journal = StartedJournal(place.journal, place.workspaces.name)
    journal.sandbox(0, marker, workspace)
    workspace.mkdir()
    name, _, value = marker.partition("=")
    process = subprocess.Popen(["sleep", "600"], env={**os.environ, name: value})
    found = row(process.pid)
    assert found is not None
    journal.process(0, found.process)
    return workspace, process


def test_the_folder_is_this_user_s_alone() -> None:
    path = folder()
    assert path.stat().st_mode & 0o077 == 0
    path.chmod(0o777)
    with pytest.raises(InvalidRun, match="not a folder that you alone can write to"):
        folder()


def test_two_runs_of_the_same_id_have_different_places() -> None:
    assert Place.of("agents").workspaces != Place.of("agents").workspaces


def test_what_a_killed_run_left_is_ended_and_removed() -> None:
    place = Place.of("agents")
    workspace, process = begun(place)
    abandoned(place, [1, 0])
    assert swept() == [f"run {place.workspaces.name} was killed: 1 sessions of it were ended and removed"]
    assert process.wait(10) != 0
    assert not workspace.exists()
    assert list(folder().iterdir()) == []
    assert swept() == []


def test_a_run_that_goes_on_is_left_alone() -> None:
    place = Place.of("agents")
    workspace, process = begun(place)
    try:
        assert swept() == []
        assert workspace.is_dir()
        assert process.poll() is None
    finally:
        process.kill()
        process.wait()


def test_a_journal_that_is_only_begun_is_left_alone_and_a_foreign_file_is_named() -> None:
    begun_now, foreign = folder() / "a.journal", folder() / "b.journal"
    begun_now.touch()
    foreign.write_text("[1]\n")
    assert swept() == [f"{foreign}: not a journal of sessions; it was left alone"]
    assert begun_now.exists()


def test_a_place_in_which_nothing_is_left_is_gone() -> None:
    place = Place.of("agents")
    with StartedJournal(place.journal, "agents"):
        pass
    assert place.close() == []
    assert list(folder().iterdir()) == []


def test_what_is_left_is_named_with_what_removes_it() -> None:
    place = Place.of("agents")
    workspace, process = begun(place)
    try:
        left = place.close()
        assert [one.name for one in left] == [f"process {process.pid} (sleep)", str(workspace)]
        assert left[0].remove == f"kill -KILL {process.pid}"
    finally:
        process.kill()
        process.wait()
    assert place.journal.exists()


def test_the_folder_of_a_run_that_was_killed_before_it_began_is_removed_and_no_other() -> None:
    unused, full, young = Place.of("killed"), Place.of("full"), Place.of("young")
    (full.workspaces / "session-0").mkdir()
    for place in (unused, full):
        os.utime(place.workspaces, (0, 0))
    assert swept() == []
    assert not unused.workspaces.exists()
    assert (full.workspaces / "session-0").is_dir()
    assert young.workspaces.is_dir()
