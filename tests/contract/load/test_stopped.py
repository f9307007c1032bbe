"""What ends a load before its time, through the command: signals, `--max-time`, stop conditions."""

from __future__ import annotations

import signal
from pathlib import Path
from typing import Any

import pytest
from tests.contract.deadline import wait_for
from tests.contract.load.against import Counted, load_profile, run, start
from tests.contract.load.conftest import Starts
from tests.contract.load.contrary import Contrary

pytestmark = pytest.mark.contract

#: Who the server is, is asked first; the second request to that path is the first of the warm-up.
HANGING_WARM_UP = [{"path": "/version", "every": 2, "do": "never"}]


def test_an_interrupt_while_connections_warm_up_is_130_with_a_result(contrary: Starts, tmp_path: Path) -> None:
    server = contrary(rules=HANGING_WARM_UP)
    running = start(tmp_path / "run", server, load_profile(tmp_path, "http2", 100, 100))
    assert wait_for(lambda: server.counts()["open"] > 0)
    running.process.send_signal(signal.SIGINT)
    ended = running.ended(20)
    assert ended.code == 130, ended.explain()
    never_began(ended, "stopped by SIGINT: asked to end")


def test_max_time_while_connections_warm_up_is_4_with_a_result(contrary: Starts, tmp_path: Path) -> None:
    server = contrary(rules=HANGING_WARM_UP)
    ended = run(tmp_path / "run", server, load_profile(tmp_path, "http2", 100, 100), "--max-time", "1s")
    assert ended.code == 4, ended.explain()
    never_began(ended, "stopped by max-time: limit 1 s")


def never_began(ended: Counted, why: str) -> None:
    """It is ABORTED, and nothing of it was sent."""
    assert ended.result["verdict"] == {"status": "ABORTED", "reasons": [why]}
    assert (ended.load["sent"], ended.load["not_sent"]) == (0, 100)
    assert (ended.out / "report.md").is_file()


@pytest.mark.parametrize(
    ("behaviour", "flags", "why"),
    [
        ({}, ("--max-time", "2s"), "stopped by max-time: limit 2 s"),
        ({}, ("--stop-lag", "1us"), "stopped by lag: requests were sent"),
        (
            {"rules": [{"path": "/configmaps", "do": {"status": {"code": 500}}}]},
            ("--stop-error-share", "5%"),
            "error-share",
        ),
        (
            {"rules": [{"path": "/configmaps", "do": {"status": {"code": 429}}}]},
            ("--stop-429-share", "5%"),
            "429-share",
        ),
        ({}, ("--stop-memory", "1MiB"), "stopped by harness-memory: perfq holds"),
    ],
    ids=["max-time", "lag", "errors", "429", "memory"],
)
def test_a_stop_condition_ends_the_load_with_what_was_measured(
    contrary: Starts, tmp_path: Path, behaviour: dict[str, Any], flags: tuple[str, ...], why: str
) -> None:
    server: Contrary = contrary(**behaviour)
    ended = run(tmp_path / "run", server, load_profile(tmp_path, "http2", 100, 6000), *flags)
    assert ended.code == 4, ended.explain()
    assert ended.result["verdict"]["status"] == "ABORTED"
    (reason,) = ended.result["verdict"]["reasons"]
    assert why in reason
    assert ended.load["not_sent"] > 4000
    assert ended.load["segments"][0]["stopped"] is not None
