"""`perfq serve` as a process of its own."""

from __future__ import annotations

import json
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from kubernetes import client, config, watch

pytestmark = pytest.mark.contract

PERFQ = [sys.executable, "-m", "perfq"]


@contextmanager
def serving(*flags: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """The process and its first line of stdout; it is ended with the block."""
    with subprocess.Popen(
        [*PERFQ, "serve", *flags], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        try:
            yield process, process.stdout.readline()
        finally:
            process.kill()


def refused(*flags: str) -> tuple[int, str]:
    """Exit code and stderr of a serve that does not start."""
    done = subprocess.run([*PERFQ, "serve", *flags], capture_output=True, text=True, timeout=60, check=False)
    assert done.stdout == ""
    assert "Traceback" not in done.stderr
    return done.returncode, done.stderr


def test_the_first_line_is_a_kubeconfig_that_only_its_owner_reads_and_that_goes_with_the_server() -> None:
    with serving("--start", "never") as (process, line):
        path = Path(line.rstrip("\n"))
        assert path.is_absolute()
        assert path.stat().st_mode & 0o777 == 0o600
        process.send_signal(signal.SIGTERM)
        assert process.wait(30) == 0
        assert not path.exists()


def test_json_names_kubeconfig_server_and_pid_and_the_file_stays_where_it_was_asked_for(tmp_path: Path) -> None:
    wanted = tmp_path / "kubeconfig"
    with serving("--json", "--kubeconfig-out", str(wanted)) as (process, line):
        told: dict[str, Any] = json.loads(line)
        assert told["kubeconfig"] == str(wanted)
        assert told["pid"] == process.pid
        assert told["server"].startswith("https://127.0.0.1:")
        process.send_signal(signal.SIGINT)
        assert process.wait(30) == 0
    assert wanted.is_file()


def test_the_official_python_client_lists_and_watches_and_the_first_watch_starts_the_churn() -> None:
    with serving("smoke-1k") as (_, line):
        api = client.CoreV1Api(config.new_client_from_config(line.strip()))
        pods = api.list_pod_for_all_namespaces()
        assert len(pods.items) == 1000
        assert pods.metadata is not None
        seen = 0
        stream = watch.Watch()
        for event in stream.stream(
            api.list_pod_for_all_namespaces, resource_version=pods.metadata.resource_version, timeout_seconds=30
        ):
            assert event["type"] == "MODIFIED"
            seen += 1
            if seen == 20:
                stream.stop()
        assert seen == 20


def test_requests_beyond_the_limit_queue() -> None:
    with serving("--plain-http", "--limit", "20/s", "--json") as (_, line):
        port = int(json.loads(line)["server"].rsplit(":", 1)[1])
        before = time.monotonic()
        with socket.create_connection(("127.0.0.1", port), timeout=30) as raw:
            for _ in range(11):
                raw.sendall(b"GET /version HTTP/1.1\r\nHost: x\r\n\r\n")
                assert raw.recv(65536)
        # Eleven of twenty a second: half a second at least, whatever the machine.
        assert time.monotonic() - before >= 0.49


def test_what_cannot_be_served_is_one_sentence_and_an_exit_code() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        code, said = refused("--port", str(taken.getsockname()[1]))
        assert (code, "in use" in said) == (7, True)
    code, said = refused("--listen", "0.0.0.0", "--plain-http")
    assert (code, "TLS" in said) == (2, True)
    code, said = refused("--listen", "nowhere")
    assert (code, "'nowhere', expected an IP address" in said) == (2, True)
    code, said = refused("--pod-bytes", "2MiB")
    assert (code, "at most 1MiB" in said) == (2, True)
    code, said = refused("--kubeconfig-out", "/no/such/folder/kubeconfig")
    assert (code, "/no/such/folder/kubeconfig" in said) == (2, True)
    code, said = refused("--limit", "fast")
    assert (code, "500/s" in said) == (2, True)
