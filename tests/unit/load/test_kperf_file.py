"""Where `--kperf-result` cannot go is found before the run; what stands there is left alone."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.unit.synthetic_load import ideal_load, load_of

from perfq.errors import InvalidRun, UsageError
from perfq.load.kperf_file import kperf_files, write_kperf_result


def files(path: Path, repeat: int = 1) -> tuple[Path, ...]:
    return kperf_files({"kperf_result": str(path), "repeat": repeat})


def test_a_file_that_can_be_written_is_neither_made_nor_changed_before_the_run(tmp_path: Path) -> None:
    there = tmp_path / "there.json"
    there.write_text("before")
    assert files(there) == (there,)
    assert files(tmp_path / "new.json") == (tmp_path / "new.json",)
    assert [one.name for one in tmp_path.iterdir()] == ["there.json"]
    assert there.read_text() == "before"


@pytest.mark.parametrize(
    ("name", "reason"),
    [("missing/k.json", "No such file"), ("folder", "Is a directory"), ("x" * 300, "File name too long")],
)
def test_a_file_that_cannot_be_written_is_a_usage_error(tmp_path: Path, name: str, reason: str) -> None:
    (tmp_path / "folder").mkdir()
    with pytest.raises(UsageError, match=f"--kperf-result .*: cannot be written .*{reason}"):
        files(tmp_path / name)


def test_each_of_several_runs_has_a_file_of_its_own(tmp_path: Path) -> None:
    assert [one.name for one in files(tmp_path / "kperf.json", 3)] == ["kperf-1.json", "kperf-2.json", "kperf-3.json"]
    (tmp_path / "kperf-2.json").mkdir()
    with pytest.raises(UsageError, match=r"kperf-2\.json: cannot be written"):
        files(tmp_path / "kperf.json", 3)


def test_a_file_that_cannot_be_written_any_more_is_no_usage_error(tmp_path: Path) -> None:
    recorded = load_of(ideal_load().write(tmp_path / "run"))
    with pytest.raises(InvalidRun, match=r"cannot be written any more .*the run itself is whole"):
        write_kperf_result(recorded, tmp_path)
