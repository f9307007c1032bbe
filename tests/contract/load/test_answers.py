"""Answers that are errors, cut off or never end: counted by class, and nothing called a success that was not one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.contract.load.against import GET, Protocol, load_profile, run
from tests.contract.load.conftest import Starts

pytestmark = pytest.mark.contract

both = pytest.mark.parametrize("protocol", ["http1", "http2"])


def status(code: int, **more: Any) -> dict[str, Any]:
    return {"status": {"code": code, **more}}


@both
def test_each_status_is_an_error_of_its_own_and_no_success(
    contrary: Starts, tmp_path: Path, protocol: Protocol
) -> None:
    codes = [401, 403, 410, 429, 500]
    server = contrary(rules=[{"path": f"/configmaps/c-{code}", "do": status(code)} for code in codes])
    gets = [{"quorumGet": GET["quorumGet"] | {"name": f"c-{code}"}, "shares": 1} for code in codes]
    ended = run(tmp_path / "run", server, load_profile(tmp_path, protocol, 600, 600, GET, *gets))
    load, completed = ended.load, server.counts()["completed"]
    assert load["errors"] == {f"http/{code}": completed[str(code)] for code in codes}, ended.explain()
    assert min(load["errors"].values()) >= 50
    assert (load["planned"], load["sent"], load["ok"]) == (600, 600, 600 - sum(load["errors"].values()))
    # Every response that came is in the latencies; the series count what the whole counts.
    assert ended.result["latency"]["response"]["count"] == 600
    for key, count in load["errors"].items():
        assert sum(one["errors"].get(key, 0) for one in load["series"]) == count


@both
def test_redirects_in_a_circle_are_not_followed(contrary: Starts, tmp_path: Path, protocol: Protocol) -> None:
    circle = status(301, headers={"location": "/api/v1/namespaces/default/configmaps/a"})
    server = contrary(rules=[{"path": "/configmaps", "do": circle}])
    ended = run(tmp_path / "run", server, load_profile(tmp_path, protocol, 200, 100))
    assert (ended.load["ok"], ended.load["errors"]) == (0, {"http/301": 100}), ended.explain()
    assert server.counts()["completed"]["301"] == 100


@both
def test_429_is_sent_again_only_where_asked_after_the_wait_that_the_server_names(
    contrary: Starts, tmp_path: Path, protocol: Protocol
) -> None:
    rules = [{"path": "/configmaps", "times": 5, "do": status(429, retry_after="1")}]
    server = contrary(rules=rules)
    profile = load_profile(tmp_path, protocol, 100, 100, maxRetries=3)
    ended = run(tmp_path / "run", server, profile)
    load = ended.load
    assert (load["ok"], load["errors"], load["retries"]) == (100, {}, 5), ended.explain()
    asked = [one["t_us"] for one in server.log() if "/configmaps" in one["target"]]
    assert len(asked) == 105
    # The first five were turned away within 50 ms of the start, and came again a second later, after all others.
    assert asked[100] - asked[4] >= 900_000
    # A retry keeps its first due instant.
    assert ended.result["latency"]["response"]["max"] >= 1_000_000_000


@both
def test_429_without_a_word_on_when_is_an_error_at_once(contrary: Starts, tmp_path: Path, protocol: Protocol) -> None:
    """As in kperf, whose client sends again only where the server says when."""
    server = contrary(rules=[{"path": "/configmaps", "do": status(429)}])
    ended = run(tmp_path / "run", server, load_profile(tmp_path, protocol, 50, 20, maxRetries=2))
    load = ended.load
    assert (load["ok"], load["errors"], load["retries"]) == (0, {"http/429": 20}, 0), ended.explain()
    assert server.counts()["completed"]["429"] == 20


CUTS = {
    "close": "close",
    "reset": "reset",
    "stream reset": {"rst_stream": 2},
}


@both
@pytest.mark.parametrize("cut", CUTS)
def test_a_body_that_is_cut_off_is_an_error_and_no_success(
    contrary: Starts, tmp_path: Path, protocol: Protocol, cut: str
) -> None:
    action = {"cut": {"announced": 1000, "sent": 100, "end": CUTS[cut]}}
    server = contrary(rules=[{"path": "/configmaps", "every": 10, "do": action}])
    # One at a time, so that the end of a connection takes no other request with it.
    profile = load_profile(tmp_path, protocol, 200, 100, conns=1, client=1)
    ended = run(tmp_path / "run", server, profile)
    load = ended.load
    assert load["ok"] == 90, ended.explain()
    assert sum(load["errors"].values()) == 10
    assert {key.split("/")[0] for key in load["errors"]} <= {"connection", "http2-protocol"}
    assert ended.result["latency"]["response"]["count"] == 90


def test_an_http2_stream_that_ends_short_of_its_length_is_no_success(contrary: Starts, tmp_path: Path) -> None:
    action = {"cut": {"announced": 1000, "sent": 100, "end": "proper"}}
    server = contrary(rules=[{"path": "/configmaps", "every": 10, "do": action}])
    ended = run(tmp_path / "run", server, load_profile(tmp_path, "http2", 100, 100))
    assert (ended.load["ok"], sum(ended.load["errors"].values())) == (90, 10), ended.explain()


@both
def test_bytes_that_are_no_http_are_an_error(contrary: Starts, tmp_path: Path, protocol: Protocol) -> None:
    server = contrary(rules=[{"path": "/configmaps", "every": 10, "do": "garbage"}])
    profile = load_profile(tmp_path, protocol, 200, 100, conns=1, client=1)
    ended = run(tmp_path / "run", server, profile)
    assert (ended.load["ok"], sum(ended.load["errors"].values())) == (90, 10), ended.explain()


@both
def test_responses_that_never_end_are_cancelled_at_the_deadline(
    contrary: Starts, tmp_path: Path, protocol: Protocol
) -> None:
    server = contrary(rules=[{"path": "/configmaps", "every": 20, "do": {"endless": {"piece": 100, "pause_ms": 50}}}])
    profile = load_profile(tmp_path, protocol, 400, 200)
    ended = run(tmp_path / "run", server, profile, "--grace", "1s")
    load = ended.load
    assert (load["ok"], load["cancelled"], load["errors"]) == (190, 10, {}), ended.explain()
    assert ended.code == 4
    assert ended.result["verdict"]["status"] == "INVALID"
    assert ended.result["latency"]["response"]["count"] == 190


@both
def test_responses_that_never_end_time_out_where_a_timeout_is_asked_for(
    contrary: Starts, tmp_path: Path, protocol: Protocol
) -> None:
    server = contrary(rules=[{"path": "/configmaps", "every": 20, "do": {"endless": {"piece": 100, "pause_ms": 50}}}])
    profile = load_profile(tmp_path, protocol, 400, 200)
    ended = run(tmp_path / "run", server, profile, "--timeout", "500ms")
    load = ended.load
    assert (load["ok"], load["timed_out"], load["cancelled"]) == (190, 10, 0), ended.explain()
    # A request that timed out is in the response times with what it waited.
    assert ended.result["latency"]["response"]["count"] == 200
    assert ended.result["latency"]["response"]["max"] >= 500_000_000


@both
def test_a_body_of_ten_gigabytes_costs_no_memory(contrary: Starts, tmp_path: Path, protocol: Protocol) -> None:
    server = contrary(rules=[{"path": "/configmaps", "times": 1, "do": {"body": {"bytes": 10_000_000_000}}}])
    profile = load_profile(tmp_path, protocol, 20, 20)
    ended = run(tmp_path / "run", server, profile, "--timeout", "1s")
    assert (ended.load["ok"], ended.load["timed_out"]) == (19, 1), ended.explain()
    assert ended.result["process"]["harness"]["rss_peak_bytes"] < 400_000_000
