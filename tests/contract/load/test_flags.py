"""What flags of `perfq load run` ask for, through the command."""

from __future__ import annotations

import json
import subprocess
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.contract.load.against import load_profile, replay_profile, run
from tests.contract.load.conftest import Starts

pytestmark = pytest.mark.contract

POD = "/api/v1/namespaces/default/pods/a"


def test_raw_data_has_a_line_for_each_request(
    contrary: Starts, tmp_path: Path, need_program: Callable[[str], str]
) -> None:
    server = contrary(rules=[{"path": "/configmaps", "every": 4, "do": {"status": {"code": 404}}}])
    ended = run(tmp_path / "run", server, load_profile(tmp_path, "http2", 100, 200), "--raw-data")
    assert "raw.ndjson.zst" in {one["path"] for one in ended.result["artifacts"]}
    command = [need_program("zstd"), "--decompress", "--stdout", str(ended.out / "raw.ndjson.zst")]
    text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    lines: list[dict[str, Any]] = [json.loads(line) for line in text.splitlines()]
    assert Counter(line["outcome"] for line in lines) == {"ok": ended.load["ok"], **ended.load["errors"]}
    assert len(lines) == ended.load["planned"] == 200
    for line in lines:
        assert line["due_ns"] <= line["sent_ns"] <= line["first_byte_ns"] <= line["done_ns"]
    longest = max(line["done_ns"] - line["due_ns"] for line in lines)
    assert longest == pytest.approx(ended.result["latency"]["response"]["max"], rel=0.01)


def test_what_finds_no_slot_is_dropped_where_that_is_asked_for(contrary: Starts, tmp_path: Path) -> None:
    """100/s of a server that does 10/s: at most two at once, 0.2 s each."""
    server = contrary(latency_ms=[200, 200])
    profile = load_profile(tmp_path, "http2", 100, 100, client=2)
    dropped = run(tmp_path / "drop", server, profile, "--overload", "drop")
    assert dropped.code == 3, dropped.explain()
    assert (dropped.load["overload"], dropped.load["cause"], dropped.load["limited_by"]) == (
        "drop",
        "dropped",
        "target",
    )
    assert 0 < dropped.load["ok"] <= 20
    assert dropped.load["not_sent"] == 100 - dropped.load["ok"]
    queued = run(tmp_path / "queue", server, profile)
    assert queued.code == 3, queued.explain()
    assert (queued.load["overload"], queued.load["ok"], queued.load["cause"]) == ("queue", 100, "slot_wait")


@pytest.mark.parametrize(("ordering", "at_once"), [("object", False), ("strict", False), ("none", True)])
def test_requests_on_one_object_wait_for_each_other_unless_asked_not_to(
    contrary: Starts, tmp_path: Path, ordering: str, at_once: bool
) -> None:
    server = contrary(latency_ms=[50, 50])
    profile = replay_profile(
        tmp_path,
        "http2",
        [
            {
                "timestamp": 0,
                "verb": "GET",
                "namespace": "default",
                "resourceKind": "Pod",
                "name": "a",
                "apiPath": POD,
            }
        ]
        * 10,
    )
    ended = run(tmp_path / "run", server, profile, "--ordering", ordering)
    assert ended.load["ok"] == 10, ended.explain()
    assert (server.counts()["paths"][POD]["max_concurrency"] > 1) is at_once
    waited = ended.result["latency"]["order_wait"]
    assert (waited is not None and waited["max"] > 0) is not at_once
    assert json.loads((ended.out / "manifest.json").read_text())["options"]["ordering"] == ordering
