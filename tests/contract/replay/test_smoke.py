"""The main job: a profile, the embedded server, a real client, a verdict."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest
from tests.contract.replay.running import TOP, replay

from perfq.measure.result.schema import shipped

pytestmark = pytest.mark.contract

EXPECTED = json.loads((TOP / "tests" / "vectors" / "workload-v1.json").read_text())["smoke-1k"]


def test_the_viewer_passes_smoke_1k_with_every_figure_of_the_correctness_preset(tmp_path: Path) -> None:
    ended = replay(tmp_path / "run", "smoke-1k", "--preset", "correctness")
    assert ended.code == 0, ended.explain()
    result = ended.result
    jsonschema.validate(result, json.loads(shipped()))
    assert result["verdict"]["status"] == "PASS"
    digests = result["replay"]["digests"]
    assert digests["store"] == digests["table"] == digests["expected"]
    if result["replay"]["extended_seconds"] == 0:
        assert digests["expected"] == EXPECTED["final_hash"]
    updates = result["replay"]["updates"]
    assert updates["dropped"] == 0
    assert updates["delivered"] == updates["rendered"] + updates["coalesced"] + updates["dropped"]
    probes = result["replay"]["probes"]
    assert updates["delivered"] >= EXPECTED["events"] + 2 * probes["seen"]
    assert result["latency"]["input"]["count"] >= 100
    assert result["latency"]["event_to_screen"]["count"] >= 30
    assert result["cleanup"]["complete"] is True


def test_every_file_of_a_run_is_there_and_its_checksums_hold(tmp_path: Path) -> None:
    import hashlib

    ended = replay(tmp_path / "run", "smoke-1k", "--client", "watch", "--duration", "3s")
    assert ended.code == 0, ended.explain()
    for line in (ended.out / "SHA256SUMS").read_text().splitlines():
        digest, name = line.split("  ")
        assert hashlib.sha256((ended.out / name).read_bytes()).hexdigest() == digest
    names = {path.name for path in ended.out.iterdir()}
    wanted = {"manifest.json", "plan.json", "samples.ndjson", "terminal.cast", "result.json", "report.md", "junit.xml"}
    assert wanted <= names
    assert not any("token" in path.read_text(errors="replace").lower() for path in ended.out.iterdir())


def test_kubectl_is_qualified_as_it_is(tmp_path: Path, kubectl_program: str) -> None:
    ended = replay(
        tmp_path / "run", "smoke-1k", "--preset", "correctness", "--", kubectl_program, "get", "pods", "-A", "-w"
    )
    assert ended.code == 0, ended.explain()
    result = ended.result
    assert result["latency"]["event_to_screen"]["count"] >= 30
    for unknown in ("event_to_render", "input"):
        assert result["latency"][unknown] is None
    assert result["replay"]["digests"]["match"] is None
    reasons = {warning["field"] for warning in result["warnings"]}
    assert {"/latency/event_to_render", "/latency/input"} <= reasons


def test_a_client_of_ten_lines_that_draws_nothing_has_api_and_process_alone(tmp_path: Path) -> None:
    import sys

    client = TOP / "tests" / "contract" / "clients" / "ten_lines.py"
    ended = replay(tmp_path / "run", "smoke-1k", "--duration", "4s", "--", sys.executable, str(client))
    assert ended.code == 0, ended.explain()
    result = ended.result
    assert result["verdict"]["status"] == "PASS"
    assert result["api"]["operations"]["list pods"]["count"] == 1
    assert result["process"]["client"]["rss_peak_bytes"] > 0
    assert result["latency"]["event_to_screen"] is None


def test_a_cpu_profile_on_request_is_an_artifact_and_marks_the_run(tmp_path: Path) -> None:
    ended = replay(tmp_path / "run", "smoke-1k", "--duration", "4s", "--no-scenarios", "--cpu-profile")
    assert ended.code == 0, ended.explain()
    profile = json.loads((ended.out / "cpu-profile.speedscope.json").read_text())
    assert sum(len(one["samples"]) for one in profile["profiles"]) > 0
    result = ended.result
    assert "cpu-profile.speedscope.json" in {artifact["path"] for artifact in result["artifacts"]}
    (note,) = [warning for warning in result["warnings"] if warning["code"] == "cpu_profile"]
    assert "never compare" in note["advice"]


def test_repeats_have_a_summary_and_directories_of_their_own(tmp_path: Path) -> None:
    ended = replay(tmp_path / "runs", "smoke-1k", "--client", "watch", "--duration", "3s", "--repeat", "2")
    assert ended.code == 0, ended.explain()
    summary = json.loads((ended.out / "summary.json").read_text())
    assert [run["status"] for run in summary["runs"]] == ["PASS", "PASS"]
    assert len(summary["metrics"]["latency.commit_lag.p95"]["values"]) == 2
    assert "2 runs: 2 PASS" in ended.text
    assert f"summary: {ended.out / 'summary.json'}" in ended.text


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["smoke-1k", "--client", "watch", "--size", "9x9"], "--size: got '9x9'"),
        (["fail-slow_logs-1k", "--client", "watch"], "cannot exercise 'slow_logs'"),
        (["smoke-1k", "--", "no-such-client"], "'no-such-client' was not found"),
        (["smoke-1k", "--client", "vewer"], "viewer"),
        (["smoke-1k", "--run-id", "Not A Label"], "--run-id"),
        (["smoke-1k", "--budget", "latency.inptu.p95<=1s"], "latency.input.p95"),
    ],
)
def test_what_cannot_work_is_refused_before_anything_starts(
    tmp_path: Path, arguments: list[str], sentence: str
) -> None:
    ended = replay(tmp_path / "run", *arguments)
    assert ended.code == 2, ended.explain()
    assert sentence in ended.text
    assert "Traceback" not in ended.text
    assert not (tmp_path / "run" / "samples.ndjson").exists()
