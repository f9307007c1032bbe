"""`perfq report`: rendered from result.json alone; a killed run is rebuilt first."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from tests.unit.synthetic import SECOND, T0, ideal_run

from perfq.cli.report import report
from perfq.drive.rebuild import settle
from perfq.drive.rundir import RunDirectory
from perfq.profile.budget_file import preset


def call(*argv: str | Path) -> Result:
    return CliRunner().invoke(report, [str(one) for one in argv], standalone_mode=False)


@pytest.fixture
def killed(tmp_path: Path) -> Path:
    """The directory of a run that was killed after 7 s of churn, in the middle of a line."""
    run = ideal_run().budgeted(*preset("correctness")).without(lambda line: line["t"] > T0 + 7 * SECOND)
    directory = run.write(tmp_path / "run")
    with (directory / "samples.ndjson").open("a") as file:
        file.write('{"k":"commit","t":1007')
    return directory


@pytest.fixture
def ended(tmp_path: Path) -> Path:
    """The directory of a run that ended well."""
    directory = ideal_run().budgeted(*preset("correctness")).write(tmp_path / "run")
    assert settle(RunDirectory(directory)).exit_code == 0
    return directory


def test_a_killed_run_is_rendered_as_aborted_with_what_it_had(killed: Path) -> None:
    outcome = call(killed)
    assert outcome.return_value == 0
    assert outcome.stdout.startswith("ABORTED")
    assert "220 of 280 events" in outcome.stdout
    result = json.loads((killed / "result.json").read_text())
    assert result["verdict"]["status"] == "ABORTED"
    assert {one["path"] for one in result["artifacts"]} == {"manifest.json", "samples.ndjson"}
    assert (killed / "report.md").read_text().startswith("# ⏹️ ABORTED")


def test_what_a_killed_run_left_behind_is_named_and_not_removed(killed: Path, tmp_path: Path) -> None:
    home = tmp_path / "perfq-home"
    home.mkdir()
    manifest = json.loads((killed / "manifest.json").read_text())
    (killed / "manifest.json").write_text(json.dumps(manifest | {"client_home": str(home)}))
    told = " ".join(call(killed).stdout.split())
    assert f"left behind: {home}; to remove it: rm -r {home}" in told
    assert home.is_dir()
    assert f"rm -r {home}" in (killed / "report.md").read_text()


def test_a_home_that_is_gone_is_not_left_behind(killed: Path, tmp_path: Path) -> None:
    manifest = json.loads((killed / "manifest.json").read_text())
    (killed / "manifest.json").write_text(json.dumps(manifest | {"client_home": str(tmp_path / "perfq-gone")}))
    call(killed)
    assert json.loads((killed / "result.json").read_text())["cleanup"]["complete"] is True


def test_every_file_of_a_run_is_under_its_checksum(killed: Path) -> None:
    call(killed)
    subprocess.run(["sha256sum", "--check", "--strict", "--quiet", "SHA256SUMS"], cwd=killed, check=True)
    listed = {line.split()[1] for line in (killed / "SHA256SUMS").read_text().splitlines()}
    assert listed == {path.name for path in killed.iterdir()} - {"SHA256SUMS"}


def test_the_report_needs_nothing_but_result_json(ended: Path, tmp_path: Path) -> None:
    alone = tmp_path / "elsewhere" / "result.json"
    alone.parent.mkdir()
    alone.write_bytes((ended / "result.json").read_bytes())
    for form in ("text", "md", "junit", "json"):
        assert call(alone, "--format", form).stdout == call(ended, "--format", form).stdout
    assert call(alone, "--format", "md").stdout == (ended / "report.md").read_text()
    assert call(alone, "--format", "junit").stdout == (ended / "junit.xml").read_text()
    assert call(alone, "--format", "json").stdout == (ended / "result.json").read_text()


def test_settling_twice_gives_the_same_files(ended: Path) -> None:
    before = {path.name: path.read_bytes() for path in ended.iterdir()}
    settle(RunDirectory(ended))
    assert {path.name: path.read_bytes() for path in ended.iterdir()} == before


def test_a_report_can_be_written_to_a_file(ended: Path, tmp_path: Path) -> None:
    out = tmp_path / "report.md"
    assert call(ended, "--format", "md", "--output", out).stdout == ""
    assert out.read_text() == (ended / "report.md").read_text()


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (None, "there is no such run directory"),
        ("not json", "not a JSON object"),
        ("[]", "not a JSON object"),
        ('{"schema": "perfq.result/v9"}', "expected 'perfq.result/v1'"),
        ('{"schema": "perfq.result/v1"}', "not a perfq.result/v1 document"),
        ("[" * 100_000, "not a JSON object"),
    ],
)
def test_what_is_no_result_is_refused_in_one_sentence(content: str | None, sentence: str, tmp_path: Path) -> None:
    path = tmp_path / "result.json"
    if content is not None:
        path.write_text(content)
    error = call(path).exception
    assert error is not None
    assert getattr(error, "exit_code", None) == 2
    assert sentence in str(error)


def test_a_directory_without_a_run_is_refused(tmp_path: Path) -> None:
    error = call(tmp_path).exception
    assert "neither result.json nor manifest.json" in str(error)


def test_a_directory_of_repeats_says_which_runs_it_holds(killed: Path, tmp_path: Path) -> None:
    for number in (1, 2):
        (tmp_path / "all" / f"run-{number}").mkdir(parents=True)
        (tmp_path / "all" / f"run-{number}" / "manifest.json").write_bytes((killed / "manifest.json").read_bytes())
    assert "holds 2 runs; name one of them" in str(call(tmp_path / "all").exception)


def test_a_manifest_of_another_version_is_refused_with_what_is_wrong(killed: Path) -> None:
    manifest = json.loads((killed / "manifest.json").read_text())
    (killed / "manifest.json").write_text(json.dumps(manifest | {"schema": "perfq.manifest/v2"}))
    error = call(killed).exception
    assert "not a manifest of this perfq" in str(error)
    assert "schema" in str(error)
