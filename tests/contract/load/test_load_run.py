"""The main job: an input, a server, a verdict."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest
from tests.contract.load.running import EXAMPLES, command, load

from perfq.measure.manifests import read_manifest

pytestmark = [pytest.mark.contract, pytest.mark.paced]

PROFILES = sorted(path.name for path in EXAMPLES.glob("*.yaml"))


@pytest.mark.parametrize("name", PROFILES)
def test_each_example_runs_on_the_embedded_server_and_every_request_is_accounted_for(name: str, tmp_path: Path) -> None:
    ended = load(tmp_path / "run", str(EXAMPLES / name))
    assert ended.code == 0, ended.explain()
    counted = ended.result["load"]
    unhappy = sum(counted["errors"].values()) + counted["timed_out"] + counted["cancelled"] + counted["not_sent"]
    assert counted["ok"] + unhappy == counted["planned"] > 0
    assert unhappy == 0, counted["errors"]


def test_every_file_of_a_load_is_there_and_its_checksums_hold(tmp_path: Path) -> None:
    kperf = tmp_path / "kperf.json"
    ended = load(tmp_path / "run", str(EXAMPLES / "quorum-list.yaml"), "--kperf-result", str(kperf))
    assert ended.code == 0, ended.explain()
    for line in (ended.out / "SHA256SUMS").read_text().splitlines():
        digest, name = line.split("  ")
        assert hashlib.sha256((ended.out / name).read_bytes()).hexdigest() == digest
    names = {path.name for path in ended.out.iterdir()}
    wanted = {"manifest.json", "plan.json", "samples.ndjson", "result.json", "report.md", "junit.xml"}
    assert wanted <= names
    assert {one["path"] for one in ended.result["artifacts"]} >= {"samples.ndjson", "plan.json", "input.yaml"}
    assert (ended.out / "input.yaml").read_bytes() == (EXAMPLES / "quorum-list.yaml").read_bytes()
    written = json.loads(kperf.read_text())
    assert written["aggregated"]["total"] == ended.result["load"]["planned"]
    assert read_manifest(ended.out).kind == "load"


def test_the_report_says_that_server_and_generator_shared_a_process(tmp_path: Path) -> None:
    ended = load(tmp_path / "run", str(EXAMPLES / "quorum-get.yaml"))
    assert "the embedded server ran in this process" in (ended.out / "report.md").read_text()


def test_results_go_to_stdout_and_all_else_to_stderr(tmp_path: Path) -> None:
    ended = load(tmp_path / "run", str(EXAMPLES / "quorum-get.yaml"), "--json")
    assert json.loads(ended.stdout)["kind"] == "load"
    assert "load of" in ended.stderr


def test_a_missed_budget_is_exit_code_3(tmp_path: Path) -> None:
    ended = load(tmp_path / "run", str(EXAMPLES / "quorum-list.yaml"), "--budget", "latency.response.p50<=1ns")
    assert ended.code == 3, ended.explain()


def test_repeated_runs_are_summed_up(tmp_path: Path) -> None:
    ended = command(
        *("run", str(EXAMPLES / "quorum-get.yaml"), "--repeat", "2", "--out", str(tmp_path / "runs")),
        *("--kperf-result", str(tmp_path / "kperf.json")),
    )
    assert ended.code in (0, 4), ended.explain()
    summary = json.loads((tmp_path / "runs" / "summary.json").read_text())
    assert len(summary["runs"]) == 2
    assert len(summary["metrics"]["load.achieved_rate"]["values"]) == 2
    for number in (1, 2):
        written = json.loads((tmp_path / f"kperf-{number}.json").read_text())
        result = json.loads((tmp_path / "runs" / f"run-{number}" / "result.json").read_text())
        assert written["aggregated"]["totalReceivedBytes"] == result["load"]["bytes"]
    assert not (tmp_path / "kperf.json").exists()


def test_report_and_runs_know_a_load(tmp_path: Path) -> None:
    import subprocess
    import sys

    ended = load(tmp_path / "run", str(EXAMPLES / "quorum-get.yaml"))
    (ended.out / "result.json").unlink()
    shown = subprocess.run(
        [sys.executable, "-m", "perfq", "report", str(ended.out)], capture_output=True, text=True, check=True
    )
    assert "load of quorum-get.yaml" in shown.stdout
    assert (ended.out / "result.json").exists()
    listed = subprocess.run(
        [sys.executable, "-m", "perfq", "runs", "list", "--dir", str(tmp_path), "--json"],
        capture_output=True,
        text=True,
        check=True,
    )
    (entry,) = json.loads(listed.stdout)
    assert (entry["kind"], entry["profile"], entry["client"]) == ("load", "quorum-get.yaml", None)
