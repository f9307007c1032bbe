"""Warming up has a limit of its own, and a stop ends it at once: before T0 nothing can hang."""

from __future__ import annotations

import json
import threading
from pathlib import Path
from typing import Any

import pytest
from tests.contract.deadline import wait_for
from tests.contract.load.against import Protocol
from tests.contract.load.conftest import Starts
from tests.contract.load.contrary import Contrary

from perfq._core import LoadRun

pytestmark = pytest.mark.contract

both = pytest.mark.parametrize("protocol", ["http1", "http2"])
hanging = pytest.mark.parametrize(
    "behaviour",
    [{"accept": "ignore"}, {"rules": [{"path": "/version", "do": "never"}]}],
    ids=["no handshake", "no answer"],
)


def options(server: Contrary, folder: Path, protocol: Protocol, **more: Any) -> dict[str, Any]:
    trace = folder / "trace"
    header = {"schema": "perfq.trace/v1", "source": {}, "counts": {}, "losses": []}
    request = {"t_us": 0, "verb": "GET", "path": "/api/v1/namespaces/default/pods/a"}
    trace.write_text(f"{json.dumps(header)}\n{json.dumps(request)}\n")
    segment = {"source": {"trace": {"path": str(trace)}}, "connections": 4, "in_flight": 4, "protocol": protocol}
    endpoint = {"url": server.url, "ca_pem": server.ca_file.read_text()}
    return {"recorder": None, "endpoint": endpoint, "segments": [segment]} | more


@both
@hanging
def test_a_server_that_hangs_while_connections_warm_up_ends_the_run_at_the_limit(
    contrary: Starts, tmp_path: Path, protocol: Protocol, behaviour: dict[str, Any]
) -> None:
    server = contrary(**behaviour)
    with LoadRun.start(options(server, tmp_path, protocol, warm_up_ms=500)) as run:
        assert run.wait(20), run.progress()
        result = run.result()
    assert result["failure"] is not None
    assert result["failure"]["class"] == "timeout"
    assert "not warm within" in result["failure"]["text"]


@both
@hanging
def test_a_stop_ends_the_warming_up_at_once(
    contrary: Starts, tmp_path: Path, protocol: Protocol, behaviour: dict[str, Any]
) -> None:
    server = contrary(**behaviour)
    with LoadRun.start(options(server, tmp_path, protocol)) as run:
        assert wait_for(lambda: server.counts()["connections"]["accepted"] == 4)
        run.stop("a test")
        assert run.wait(20), run.progress()


def test_leaving_a_run_ends_it_also_where_another_thread_waits_for_it(contrary: Starts, tmp_path: Path) -> None:
    server = contrary(accept="ignore")
    waits, ended = threading.Event(), threading.Event()

    def wait() -> None:
        waits.set()
        if run.wait(600):
            ended.set()

    with LoadRun.start(options(server, tmp_path, "http1", warm_up_ms=600_000)) as run:
        waiting = threading.Thread(target=wait)
        waiting.start()
        assert waits.wait(20)
        assert wait_for(lambda: server.counts()["connections"]["accepted"] == 4)
    waiting.join(20)
    assert ended.is_set()
