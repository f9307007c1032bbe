"""`perfq load import` as a process: stopped in the middle, and on logs that are larger than its memory."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from tests.contract.load.running import start

pytestmark = pytest.mark.contract

DEADLINE_S = 60


def event(number: int) -> str:
    """A line of a log: a write with a body of its own, each received before the one above it."""
    at = 3_000_000 - number
    time = f"2024-05-01T10:{at // 60_000:02}:{at // 1_000 % 60:02}.{at % 1_000:03}Z"
    body = {"kind": "ConfigMap", "metadata": {"name": f"c-{number}"}, "data": {"a": f"{number}" * 60}}
    return json.dumps(
        {
            "kind": "Event",
            "apiVersion": "audit.k8s.io/v1",
            "level": "Request",
            "auditID": str(number),
            "stage": "ResponseComplete",
            "requestURI": "/api/v1/namespaces/a/configmaps",
            "verb": "create",
            "responseStatus": {"code": 201},
            "requestObject": body,
            "requestReceivedTimestamp": time,
            "stageTimestamp": time,
        }
    )


def test_a_signal_ends_an_import_that_waits_for_its_log_and_leaves_nothing(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "audit.log")
    out = str(tmp_path / "trace.zst")
    with start("import", f"{tmp_path}/audit.log", "--out", out) as process, (tmp_path / "audit.log").open("w") as log:
        log.write(f"{event(1)}\n")
        log.flush()
        process.send_signal(signal.SIGINT)
        _, stderr = process.communicate(timeout=DEADLINE_S)
    assert process.returncode == 130, stderr
    assert "Traceback" not in stderr
    assert [path.name for path in tmp_path.iterdir()] == ["audit.log"]


def test_a_log_may_come_through_a_pipe(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "audit.log")
    with start("import", str(tmp_path / "audit.log"), "--out", str(tmp_path / "trace"), "--json") as process:
        (tmp_path / "audit.log").write_text("".join(f"{event(number)}\n" for number in range(100)))
        stdout, stderr = process.communicate(timeout=DEADLINE_S)
    assert process.returncode == 0, stderr
    assert json.loads(stdout)["requests"] == 100


def test_a_log_may_come_from_standard_input(tmp_path: Path) -> None:
    perfq = [sys.executable, "-m", "perfq", "load", "import", "-", "--out", str(tmp_path / "trace"), "--json"]
    done = subprocess.run(perfq, input=f"{event(1)}\n", capture_output=True, text=True, check=True, timeout=DEADLINE_S)
    assert json.loads(done.stdout)["files"][0]["name"] == "stdin"


def peak_rss(log: Path) -> int:
    """The most memory in bytes that an import of this log held, sorting 1 MiB at a time."""
    perfq = [sys.executable, "-m", "perfq", "load", "import", str(log), "--out", f"{log}.zst", "--memory", "1MiB"]
    child = f"import resource, subprocess; subprocess.run({perfq!r}, check=True, stdout=subprocess.DEVNULL)"
    script = f"{child}; print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    return int(done.stdout) * 1024


def test_memory_is_bounded_whatever_the_size_of_the_log(tmp_path: Path) -> None:
    peaks = []
    for events in (10_000, 100_000):
        log = tmp_path / f"{events}.log"
        log.write_text("".join(f"{event(number)}\n" for number in range(events)))
        peaks.append(peak_rss(log))
    assert peaks[1] < peaks[0] + 16 * 1024 * 1024, peaks


def test_a_full_disk_is_one_sentence_and_leaves_no_trace(tmp_path: Path) -> None:
    log = tmp_path / "audit.log"
    log.write_text("".join(f"{event(number)}\n" for number in range(3_000)))
    perfq = [
        sys.executable,
        "-m",
        "perfq",
        "load",
        "import",
        str(log),
        "--out",
        str(tmp_path / "trace"),
        "--memory=1KiB",
    ]
    # A file may not grow beyond 64 KiB: for a process that writes, a disk that is full.
    limited = ["bash", "-c", 'ulimit -f 64; exec "$@"', "-", *perfq]
    ended = subprocess.run(limited, capture_output=True, text=True, check=False)
    assert ended.returncode == 2, ended.stderr
    assert "File too large" in ended.stderr
    assert "Traceback" not in ended.stderr
    assert not (tmp_path / "trace").exists()
