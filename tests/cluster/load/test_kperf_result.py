"""`--kperf-result` has the fields and the nesting of kperf's own results, as kperf wrote them on this test bed.

Recorded with kperf at commits 16e7cf8 (load profiles) and 66c1659 (replays): names, order and types, no values.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.cluster.load.test_kperf_replay import recorded
from tests.cluster.load.test_load_run import run_on, spec
from tests.cluster.testbed.bed import Bed

pytestmark = pytest.mark.cluster

#: [[percentile, seconds], …]; kperf leaves them out where nothing was answered well.
PERCENTILES = [["number", "number"]] * 6
LATENCIES = {"percentileLatencies": PERCENTILES, "percentileLatenciesByURL": {"…": PERCENTILES}}
WELL = {"total": "number", "duration": "text", "totalReceivedBytes": "number", **LATENCIES}
WITH_ERRORS = {
    "total": "number", "duration": "text", "errorStats": {"…": "number"}, "totalReceivedBytes": "number", **LATENCIES,
}  # fmt: skip

WHERE = {"version": "v1", "resource": "configmaps"}


def form(value: Any, name: str = "") -> Any:
    """Names and types; the keys of a map of counts or latencies are one."""
    if isinstance(value, dict):
        if name in ("errorStats", "percentileLatenciesByURL"):
            forms = [form(inner) for inner in value.values()]
            assert all(one == forms[0] for one in forms)
            return {"…": forms[0]}
        return {key: form(inner, key) for key, inner in value.items()}
    if isinstance(value, list):
        return [form(inner) for inner in value]
    return "text" if isinstance(value, str) else "number"


def written(bed: Bed, folder: Path, *specs: dict[str, Any]) -> Any:
    """What perfq writes for kperf's users after a load profile of these specs."""
    path = folder / "kperf.json"
    profile = {"version": 1, "description": "lists and gets", "specs": list(specs)}
    ended = run_on(bed, profile, folder, "--kperf-result", str(path))
    assert path.exists(), ended.explain()
    return json.loads(path.read_text())


def test_a_load_profile_gives_a_report_for_each_spec_and_one_for_all(bed: Bed, tmp_path: Path) -> None:
    result = written(bed, tmp_path, spec({"staleList": WHERE}), spec({"quorumList": WHERE | {"limit": 5}}))
    assert form(result) == {"perSpecResults": [WELL, WELL], "aggregated": WELL}
    assert list(form(result)["aggregated"]) == list(WELL)
    urls = result["aggregated"]["percentileLatenciesByURL"]
    assert all(url.startswith(f"LIST {bed.server}/api/v1/configmaps") for url in urls), urls


def test_errors_are_counted_under_kperfs_keys(bed: Bed, tmp_path: Path) -> None:
    absent = {"staleGet": WHERE | {"namespace": "default", "name": "none"}}
    result = written(bed, tmp_path, spec(absent, {"staleList": WHERE}))
    assert form(result) == {"perSpecResults": [WITH_ERRORS], "aggregated": WITH_ERRORS}
    assert list(result["aggregated"]["errorStats"]) == ["http/404"]


def test_a_replay_gives_one_flat_report(bed: Bed, namespace: str, tmp_path: Path) -> None:
    path = tmp_path / "kperf.json"
    replay = recorded(namespace)
    ended = run_on(bed, replay, tmp_path, "--kperf-result", str(path))
    result = json.loads(path.read_text())
    wanted = WELL | {"runnerCount": "number", "totalRun": "number", "totalFailed": "number"}
    assert form(result) == wanted
    assert list(result) == list(wanted)
    counts = [result[name] for name in ("total", "runnerCount", "totalRun", "totalFailed")]
    assert counts == [len(replay["requests"]), 2, len(replay["requests"]), 0], ended.explain()
