"""Recorded requests replayed: from a profile, from a trace, from a URL."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import HTTPServer, SimpleHTTPRequestHandler
from pathlib import Path
from typing import Any

import pytest
from tests.contract.load.running import command, load
from tests.unit.load.test_requests import REPLAY

pytestmark = [pytest.mark.contract, pytest.mark.paced]

SERVED = REPLAY.replace("namespaces/a/", "namespaces/bench-0000/").replace("namespace: a", "namespace: bench-0000")
SERVED = SERVED.replace("p-1", "pod-000000").replace("p-2", "pod-000000")


@pytest.fixture
def replay(tmp_path: Path) -> Path:
    path = tmp_path / "replay.yaml"
    path.write_text(SERVED)
    return path


def test_a_replay_profile_runs_as_it_is_and_its_trace_is_kept(replay: Path, tmp_path: Path) -> None:
    kperf = tmp_path / "kperf.json"
    ended = load(tmp_path / "run", str(replay), "--kperf-result", str(kperf))
    assert ended.code == 0, ended.explain()
    counted = ended.result["load"]
    assert (counted["planned"], counted["ok"], counted["segments"][0]["runners"]) == (4, 4, 2)
    assert "input.trace.zst" in {one["path"] for one in ended.result["artifacts"]}
    written = json.loads(kperf.read_text())
    assert (written["total"], written["runnerCount"], written["totalRun"], written["totalFailed"]) == (4, 2, 4, 0)
    again = load(tmp_path / "again", str(ended.out / "input.trace.zst"))
    assert again.code == 0, again.explain()
    assert again.result["load"]["ok"] == 4


@pytest.fixture
def url(replay: Path) -> Iterator[str]:
    class Files(SimpleHTTPRequestHandler):
        def __init__(self, *args: Any) -> None:
            super().__init__(*args, directory=str(replay.parent))

        def log_message(self, *_: object) -> None:
            """Says nothing."""

    with HTTPServer(("127.0.0.1", 0), Files) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}/{replay.name}"
        server.shutdown()


def test_a_url_is_fetched_and_its_signature_reaches_no_file(url: str, tmp_path: Path) -> None:
    ended = load(tmp_path / "run", f"{url}?signature=hidden")
    assert ended.code == 0, ended.explain()
    assert ended.result["manifest"]["input"]["name"] == f"{url}?…"
    for path in ended.out.iterdir():
        assert b"hidden" not in path.read_bytes(), path
    assert "hidden" not in ended.stdout + ended.stderr


def test_one_runner_of_two_sends_its_part(replay: Path, tmp_path: Path) -> None:
    plan = json.loads(command("plan", str(replay), "--json").stdout)
    for index in range(2):
        ended = load(tmp_path / f"run-{index}", str(replay), "--runner-index", str(index))
        assert ended.result["load"]["planned"] == plan["runners"][index]["requests"]
