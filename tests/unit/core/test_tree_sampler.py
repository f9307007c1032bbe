"""`_core.TreeSampler` and `_core.ProbeListener` as Python sees them."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from perfq import _core


def records(path: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_a_client_and_the_harness_are_recorded_from_the_first_instant_to_the_last(tmp_path: Path) -> None:
    recorder = _core.Recorder(tmp_path / "samples.ndjson")
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as client:
        options = {"recorder": recorder, "trees": [{"who": "client", "pid": client.pid}], "self": "harness"}
        with _core.TreeSampler.start(options) as sampler:
            end = sampler.stop()
        assert sampler.stop() == end
        assert client.stdin is not None
        client.stdin.close()
    recorder.close()
    seen, harness = end["trees"]
    assert (seen["who"], seen["alive"], seen["procs"]) == ("client", True, 1)
    assert (harness["who"], harness["procs"]) == ("harness", 1)
    assert harness["cpu_ns"] is not None and harness["cpu_ns"] > 0
    host = end["host"]
    assert host is not None
    assert host["cpus"] == len(os.sched_getaffinity(0))
    kinds = [record["k"] for record in records(tmp_path / "samples.ndjson")]
    assert {"process", "host"} <= set(kinds)


def test_an_ended_client_is_no_error_and_has_no_figures() -> None:
    client = subprocess.run([sys.executable, "-c", "import os; print(os.getpid())"], capture_output=True, check=True)
    with _core.TreeSampler.start({"trees": [{"who": "client", "pid": int(client.stdout)}]}) as sampler:
        tree = sampler.stop()["trees"][0]
    assert (tree["alive"], tree["cpu_ns"], tree["rss"]) == (False, None, None)


@pytest.mark.parametrize(
    "options",
    [
        {"interval_ms": 0},
        {"interval_ms": "fast"},
        {"intervall_ms": 100},
        {"trees": [{"who": "client"}]},
        {"trees": [{"who": "a", "pid": 1}], "self": "a"},
    ],
)
def test_bad_sampler_options_are_value_errors(options: dict[str, object]) -> None:
    with pytest.raises(ValueError, match=r"interval|pid|called|integer"):
        _core.TreeSampler.start(options)


def test_what_a_client_says_arrives(tmp_path: Path) -> None:
    recorder = _core.Recorder(tmp_path / "samples.ndjson")
    path = tmp_path / "probe"
    listener = _core.ProbeListener.start({"path": str(path), "recorder": recorder})
    pods = {"kind": "pods", "scope": ""}
    lines: list[dict[str, object]] = [
        {"k": "hello", "t": 40, "client": "viewer", "version": "1.0", "libraries": {"textual": "8"}},
        {"k": "interactive", "t": 41},
        {"k": "list_complete", "t": 41, **pods, "objects": 1000},
        {"k": "populated", "t": 42, **pods, "rows": 1000},
        *({"k": "event_received", "t": rv, **pods, "rv": str(rv)} for rv in range(10, 20)),
        {"k": "coalesced", **pods, "n": 2},
        {"k": "rendered", **pods, "rv": "17", "rows_changed": 6},
        {"k": "backlog", "depth": 2},
        {"k": "digest", "kind": "pods", "store": "aa", "table": "bb"},
    ]
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as client:
        client.connect(str(path))
        client.sendall("".join(json.dumps(line) + "\n" for line in lines).encode())
    said = listener.stop()
    recorder.close()
    assert said["hello"] == {"client": "viewer", "version": "1.0", "libraries": {"textual": "8"}}
    assert (said["interactive_ns"], said["populated"]) == (41, {"t": 42, "rows": 1000})
    assert (said["received"], said["rendered"], said["coalesced"], said["unsettled"]) == (10, 6, 2, 2)
    assert said["digest"] is not None
    assert (said["digest"]["store"], said["digest"]["table"], said["backlog"]) == ("aa", "bb", 2)
    assert [record["m"] for record in records(tmp_path / "samples.ndjson")] == lines
    assert (said["lines"], said["bad_lines"], said["connected"]) == (18, 0, 0)


def test_a_socket_path_that_exists_or_is_too_long_is_refused(tmp_path: Path) -> None:
    taken = tmp_path / "probe"
    with _core.ProbeListener.start({"path": str(taken)}), pytest.raises(OSError, match="in use"):
        _core.ProbeListener.start({"path": str(taken)})
    assert not taken.exists()
    with pytest.raises(ValueError, match="path"):
        _core.ProbeListener.start({"path": str(tmp_path / ("x" * 200))})


def test_a_client_that_only_connects_costs_nothing(tmp_path: Path) -> None:
    with _core.ProbeListener.start({"path": str(tmp_path / "probe")}) as listener:
        silent = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        silent.connect(str(tmp_path / "probe"))
        assert listener.stop()["lines"] == 0
        silent.close()
