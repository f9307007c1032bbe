"""A run directory is never reused, and its checksums hold."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from perfq.drive.rundir import RunDirectory, check_run_id, new_run_id
from perfq.errors import UsageError


def test_a_directory_that_holds_something_is_refused_and_left_alone(tmp_path: Path) -> None:
    (tmp_path / "old").write_text("kept")
    with pytest.raises(UsageError, match="not empty"):
        RunDirectory.create(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["old"]


def test_a_file_in_the_place_of_the_directory_is_refused(tmp_path: Path) -> None:
    (tmp_path / "out").write_text("")
    with pytest.raises(UsageError, match="a file of that name"):
        RunDirectory.create(tmp_path / "out")


def test_a_place_that_cannot_be_written_is_refused_with_the_reason() -> None:
    with pytest.raises(UsageError, match="cannot be written"):
        RunDirectory.create(Path("/proc/perfq-run"))


def test_checksums_cover_all_but_themselves_and_artifacts_leave_out_what_is_rendered(tmp_path: Path) -> None:
    run = RunDirectory.create(tmp_path / "run")
    run.write("samples.ndjson", "{}\n")
    run.write("result.json", "{}")
    run.write_checksums()
    lines = (run.path / "SHA256SUMS").read_text().splitlines()
    assert [line.split("  ")[1] for line in lines] == ["result.json", "samples.ndjson"]
    assert lines[1].startswith(hashlib.sha256(b"{}\n").hexdigest())
    assert [entry["path"] for entry in run.artifacts()] == ["samples.ndjson"]


@pytest.mark.parametrize("profile_id", ["smoke-1k", "Ünïcode & spaces", "-", "x" * 128])
def test_a_run_id_is_a_label_of_at_most_40_characters_whatever_the_profile_is_called(profile_id: str) -> None:
    run_id = new_run_id(profile_id)
    assert check_run_id(run_id) == run_id


@pytest.mark.parametrize("bad", ["", "Upper", "under_score", "-x", "x-", "x" * 41])
def test_a_run_id_that_is_no_label_is_refused(bad: str) -> None:
    with pytest.raises(UsageError, match="--run-id"):
        check_run_id(bad)
