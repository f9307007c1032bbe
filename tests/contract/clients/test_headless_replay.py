"""The client that draws nothing: a replay qualifies the server's side of the path, what the client holds and costs."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.contract.clients.builds import TOP

pytestmark = pytest.mark.contract


def replayed(out: Path, *arguments: str) -> dict[str, Any]:
    """The result of a replay of smoke-1k that has to pass."""
    command = [sys.executable, "-m", "perfq", "replay", "smoke-1k", "--out", str(out), *arguments]
    environment = {**os.environ, "PYTHONPATH": str(TOP / "python")}
    ended = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=180, check=False)
    assert ended.returncode == 0, ended.stdout[-3000:] + ended.stderr[-3000:]
    result: dict[str, Any] = json.loads((out / "result.json").read_text())
    assert result["verdict"]["status"] == "PASS"
    return result


def assert_costs_known(result: dict[str, Any]) -> None:
    client = result["process"]["client"]
    assert client["samples"] >= 20
    assert client["cpu_seconds"] > 0
    assert client["rss_peak_bytes"] > 2**20
    assert result["process"]["harness"]["cpu_seconds"] > 0
    assert result["api"]["operations"]["list pods"]["count"] == 1
    assert result["api"]["watch_events"] >= 180


def test_the_headless_client_passes_with_the_digest_of_its_store(tmp_path: Path) -> None:
    result = replayed(tmp_path / "run", "--client", "watch")
    assert_costs_known(result)
    digests = result["replay"]["digests"]
    assert digests["store"] == digests["expected"]
    assert digests["table"] is None
    assert result["latency"]["event_to_client"]["count"] >= 180
    assert result["replay"]["updates"]["rendered"] is None
