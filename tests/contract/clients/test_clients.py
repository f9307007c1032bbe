"""Real Kubernetes clients on `perfq serve`, over HTTPS with its kubeconfig: what they hold after the churn is
byte for byte what the plan says, and they got it in the way that their kind of client does."""

from __future__ import annotations

import hashlib
import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.contract.clients.builds import GO_INFORMER, HERE, KUBE_WATCHER, TOP, built
from tests.contract.deadline import wait_for

from perfq import _core

pytestmark = pytest.mark.contract

PROFILE = "smoke-1k"
EXPECTED = json.loads((TOP / "tests" / "vectors" / "workload-v1.json").read_text())[PROFILE]
EVENTS = str(EXPECTED["events"])
SECONDS = 120


@pytest.fixture
def kubeconfig() -> Iterator[Path]:
    """A server whose churn begins with the first WATCH of Pods."""
    command = [sys.executable, "-m", "perfq", "serve", PROFILE, "--start", "watch"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        path = Path(server.stdout.readline().rstrip("\n"))
        assert path.is_absolute(), f"the first line is no path: {path}"
        yield path
        server.send_signal(signal.SIGINT)
        assert server.wait(30) == 0


def run(command: list[str], kubeconfig: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """Runs a client to its end."""
    ended = subprocess.run(
        command,
        env={**os.environ, "KUBECONFIG": str(kubeconfig), **environment},
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr[-4000:]
    return ended


def assert_final(lines: str) -> None:
    """The canonical lines are those of the plan after all its events."""
    assert lines.count("\n") == 1000
    assert hashlib.sha256(lines.encode()).hexdigest() == EXPECTED["final_hash"]


def pod_requests(stderr: str) -> list[str]:
    """The paths with query that the informer asked for, in order."""
    return re.findall(r"^request GET (/api/v1/pods\S*)", stderr, re.MULTILINE)


@pytest.fixture(scope="session")
def informer(need_program: Callable[[str], str]) -> str:
    need_program("go")
    return str(built(GO_INFORMER))


@pytest.fixture(scope="session")
def kube_watcher(need_program: Callable[[str], str]) -> str:
    need_program("cargo")
    return str(built(KUBE_WATCHER))


def test_a_client_go_informer_lists_once_and_watches_once(informer: str, kubeconfig: Path) -> None:
    command = [informer, "-kubeconfig", str(kubeconfig), "-until-restarts", EVENTS]
    ended = run(command, kubeconfig, KUBE_FEATURE_WatchListClient="false")
    assert_final(ended.stdout)
    # At resourceVersion 0 the limit of 500 does not apply: one answer.
    listed, watched = pod_requests(ended.stderr)
    assert "limit=500&resourceVersion=0" in listed
    assert "watch=true" in watched
    assert "sendInitialEvents" not in watched
    assert "HTTP/2.0" in ended.stderr


def test_a_client_go_informer_streams_its_first_list(informer: str, kubeconfig: Path) -> None:
    command = [informer, "-kubeconfig", str(kubeconfig), "-until-restarts", EVENTS]
    ended = run(command, kubeconfig, KUBE_FEATURE_WatchListClient="true")
    assert_final(ended.stdout)
    (watched,) = pod_requests(ended.stderr)
    assert "sendInitialEvents=true" in watched
    assert "resourceVersionMatch=NotOlderThan" in watched


def test_what_a_client_go_informer_streamed_is_what_a_list_of_that_version_says(
    informer: str, kubeconfig: Path
) -> None:
    """client-go's own check: it lists again at exactly that version, and panics where the two differ."""
    command = [informer, "-kubeconfig", str(kubeconfig), "-until-restarts", EVENTS]
    checked = {"KUBE_FEATURE_WatchListClient": "true", "KUBE_WATCHLIST_INCONSISTENCY_DETECTOR": "true"}
    ended = run(command, kubeconfig, **checked)
    assert_final(ended.stdout)
    assert any("resourceVersionMatch=Exact" in path for path in pod_requests(ended.stderr))


@pytest.mark.parametrize("how", ["list", "pages", "stream"])
def test_a_kube_rs_watcher_starts_once_and_misses_nothing(kube_watcher: str, kubeconfig: Path, how: str) -> None:
    ended = run([kube_watcher, how, "--until-restarts", EVENTS], kubeconfig)
    assert_final(ended.stdout)
    counts = {key: int(value) for key, value in re.findall(r"(\w+)=(\d+)", ended.stderr)}
    assert (counts["inits"], counts["initial"]) == (1, 1000)
    # With a streamed list the churn begins before the list has ended: its first events may be in it.
    assert counts["applied"] <= int(EVENTS)
    assert how == "stream" or counts["applied"] == int(EVENTS)


def test_the_official_python_client_holds_the_final_state(kubeconfig: Path) -> None:
    ended = run([sys.executable, str(HERE / "python_watch.py"), EVENTS], kubeconfig)
    assert_final(ended.stdout)


def store_digest(listener: _core.ProbeListener) -> str | None:
    digest = listener.progress()["digest"]
    return digest["store"] if digest is not None else None


def test_the_headless_client_holds_the_final_state(kubeconfig: Path, tmp_path: Path) -> None:
    socket = tmp_path / "probe"
    with _core.ProbeListener.start({"path": str(socket)}) as listener:
        environment = {**os.environ, "KUBECONFIG": str(kubeconfig), "PERFQ_PROBE": str(socket)}
        with subprocess.Popen([sys.executable, "-m", "perfq.viewer.headless"], env=environment) as client:
            reached = wait_for(lambda: store_digest(listener) == EXPECTED["final_hash"])
            client.send_signal(signal.SIGTERM)
            assert client.wait(30) == 0
        said = listener.stop()
    assert reached, said
    assert said["received"] == int(EVENTS)
    assert [one["objects"] for one in said["lists"]] == [1000]
    assert said["lost"] == 0
