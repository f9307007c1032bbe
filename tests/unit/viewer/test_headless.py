"""The headless client as a process, against a scripted server: what it reports is what it was sent."""

from __future__ import annotations

import hashlib
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from perfq import _core

NAMES = [f"pod-{i}" for i in range(3)]


def pod(name: str, restarts: int, rv: int) -> dict[str, Any]:
    return {
        "metadata": {"namespace": "ns", "name": name, "resourceVersion": str(rv)},
        "spec": {"nodeName": "node-0", "containers": [{"name": "main"}]},
        "status": {
            "phase": "Running",
            "containerStatuses": [{"ready": True, "restartCount": restarts, "state": {"running": {}}}],
        },
    }


class Script(BaseHTTPRequestHandler):
    """Two pages of a LIST; a WATCH that sends its events and stays open until the server is closed."""

    protocol_version = "HTTP/1.1"
    asked: list[str]
    closing: threading.Event

    def do_GET(self) -> None:
        self.asked.append(self.path)
        query = {key: values[0] for key, values in parse_qs(urlsplit(self.path).query).items()}
        if query.get("watch"):
            self.watch()
        elif "continue" in query:
            self.answer({"metadata": {"resourceVersion": "10"}, "items": [pod(NAMES[2], 0, 3)]})
        else:
            items = [pod(name, 0, 1) for name in NAMES[:2]]
            self.answer({"metadata": {"resourceVersion": "10", "continue": "more"}, "items": items})

    def answer(self, document: dict[str, Any]) -> None:
        body = json.dumps(document).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def watch(self) -> None:
        self.send_response(200)
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        events = [
            ("MODIFIED", pod(NAMES[0], 1, 11)),
            ("MODIFIED", pod(NAMES[0], 2, 12)),
            ("DELETED", pod(NAMES[1], 0, 13)),
        ]
        for kind, changed in events:
            line = json.dumps({"type": kind, "object": changed}).encode() + b"\n"
            self.wfile.write(f"{len(line):x}\r\n".encode() + line + b"\r\n")
        self.closing.wait(60)

    def log_message(self, *_: object) -> None:
        """Says nothing."""


@pytest.fixture
def server() -> Iterator[tuple[str, list[str]]]:
    closing = threading.Event()
    asked: list[str] = []
    handler = type("Handler", (Script,), {"asked": asked, "closing": closing})
    http = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    http.daemon_threads = True
    threading.Thread(target=http.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{http.server_address[1]}", asked
    closing.set()
    http.shutdown()
    http.server_close()


def kubeconfig(path: Path, url: str) -> Path:
    document = {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": "it",
        "contexts": [{"name": "it", "context": {"cluster": "it", "user": "it"}}],
        "clusters": [{"name": "it", "cluster": {"server": url}}],
        "users": [{"name": "it", "user": {}}],
    }
    path.write_text(json.dumps(document))
    return path


def test_it_lists_in_pages_watches_and_reports_its_store(server: tuple[str, list[str]], tmp_path: Path) -> None:
    url, asked = server
    socket = tmp_path / "probe"
    config = kubeconfig(tmp_path / "kubeconfig", url)
    with _core.ProbeListener.start({"path": str(socket)}) as listener:
        client = subprocess.Popen(
            [sys.executable, "-m", "perfq.viewer.headless"],
            env={**os.environ, "KUBECONFIG": str(config), "PERFQ_PROBE": str(socket)},
            stderr=subprocess.PIPE,
            text=True,
        )
        lines = [
            f'{{"namespace":"ns","name":"{name}","phase":"Running","ready":"1/1","restarts":{restarts},"node":"node-0"}}\n'
            for name, restarts in ((NAMES[0], 2), (NAMES[2], 0))
        ]
        expected = hashlib.sha256("".join(lines).encode()).hexdigest()
        deadline = time.monotonic() + 30
        said = listener.progress()
        while said["digest"] is None or said["digest"]["store"] != expected:
            assert time.monotonic() < deadline, said
            assert client.poll() is None, client.communicate()[1]
            time.sleep(0.01)
            said = listener.progress()
        client.send_signal(signal.SIGTERM)
        words = client.communicate(timeout=30)[1]
        said = listener.stop()
    assert client.returncode == 0
    assert "3 Pods listed" in words
    assert said["hello"] is not None
    assert said["hello"]["client"] == "perfq-watch"
    assert [(one["kind"], one["scope"], one["objects"]) for one in said["lists"]] == [("pods", "", 3)]
    assert said["received"] == 3
    assert (said["populated"], said["rendered"], said["interactive_ns"]) == (None, 0, None)
    assert said["digest"] is not None
    assert said["digest"]["table"] is None
    assert len(asked) == 3
    assert "resourceVersion=10" in asked[2]


def test_a_broken_kubeconfig_is_a_usage_error_in_one_line(tmp_path: Path) -> None:
    ended = subprocess.run(
        [sys.executable, "-m", "perfq.viewer.headless", "--kubeconfig", str(tmp_path / "none")],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert ended.returncode == 2
    assert ended.stderr.count("\n") == 1
    assert "none" in ended.stderr
