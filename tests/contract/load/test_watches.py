"""Watches whose server ends them, forgets their version or cuts them off."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.contract.load.against import Protocol, replay_profile, run
from tests.contract.load.conftest import Starts

pytestmark = pytest.mark.contract

both = pytest.mark.parametrize("protocol", ["http1", "http2"])


def watches(count: int, gets_for_ms: int) -> list[dict[str, Any]]:
    """So many watches at the start, and GETs so that the run lasts."""
    pods = "/api/v1/namespaces/default/pods"
    opened = [
        {
            "timestamp": 0,
            "verb": "WATCH",
            "namespace": "default",
            "resourceKind": "Pod",
            "apiPath": f"{pods}?watch=true&resourceVersion=1000",
        }
        for _ in range(count)
    ]
    return opened + [
        {
            "timestamp": at,
            "verb": "GET",
            "namespace": "default",
            "resourceKind": "Pod",
            "name": "a",
            "apiPath": f"{pods}/a",
        }
        for at in range(0, gets_for_ms, 20)
    ]


@both
def test_watches_are_read_to_the_end_of_the_run_and_are_ok(
    contrary: Starts, tmp_path: Path, protocol: Protocol
) -> None:
    server = contrary(watch={"every_ms": 10, "bookmark_every": 10})
    ended = run(tmp_path / "run", server, replay_profile(tmp_path, protocol, watches(5, 2000)))
    load = ended.load
    assert (load["planned"], load["ok"], load["errors"]) == (105, 105, {}), ended.explain()
    assert load["watches"]["opened"] == 5
    assert load["watches"]["events"] >= 5 * 100
    assert load["watches"]["bytes"] > load["watches"]["events"] * 100


@both
def test_a_watch_whose_version_is_gone_lists_again_and_goes_on(
    contrary: Starts, tmp_path: Path, protocol: Protocol
) -> None:
    gone = {"watch": {"events": 10, "every_ms": 10, "then": "gone"}}
    server = contrary(watch={"every_ms": 10}, rules=[{"path": "watch=", "times": 3, "do": gone}])
    ended = run(tmp_path / "run", server, replay_profile(tmp_path, protocol, watches(3, 2000)))
    load = ended.load
    assert load["watches"]["relists"] == 3, ended.explain()
    assert (load["planned"], load["ok"]) == (103, 103)
    # With limit=1 the target's version was read before the start.
    lists = [one for one in server.log() if "/pods?limit=500" in one["target"]]
    assert len(lists) == 3


@both
def test_a_watch_that_is_refused_with_410_lists_again(contrary: Starts, tmp_path: Path, protocol: Protocol) -> None:
    rule = {"path": "watch=", "times": 2, "do": {"status": {"code": 410}}}
    server = contrary(rules=[rule])
    ended = run(tmp_path / "run", server, replay_profile(tmp_path, protocol, watches(2, 1500)))
    assert ended.load["watches"]["relists"] == 2, ended.explain()


@both
@pytest.mark.parametrize("then", ["close", "reset", "half_an_event"])
def test_a_watch_that_breaks_off_is_no_success(contrary: Starts, tmp_path: Path, protocol: Protocol, then: str) -> None:
    broken = {"watch": {"events": 5, "every_ms": 10, "then": then}}
    server = contrary(rules=[{"path": "watch=", "do": broken}])
    # Fewer than a second of GETs on connections that may go down with the watch.
    ended = run(tmp_path / "run", server, replay_profile(tmp_path, protocol, watches(1, 1000), conns=1, clients=4))
    load = ended.load
    assert sum(load["errors"].values()) >= 1, ended.explain()
    assert load["ok"] < load["planned"]
    assert any(one["key"].startswith("WATCH ") and sum(one["errors"].values()) == 1 for one in load["series"])


@both
def test_a_watch_may_be_silent_for_longer_than_a_request_may_take(
    contrary: Starts, tmp_path: Path, protocol: Protocol
) -> None:
    """Where nothing changes nothing is said: only what was asked for as the limit of a silence makes it an error."""
    server = contrary(watch={"events": 1, "every_ms": 1, "then": "hold"})
    profile = replay_profile(tmp_path, protocol, watches(2, 2000))
    quiet = run(tmp_path / "quiet", server, profile, "--timeout", "500ms").load
    assert (quiet["ok"], quiet["timed_out"], quiet["watches"]["opened"]) == (102, 0, 2)
    limited = run(tmp_path / "limited", server, profile, "--watch-timeout", "500ms").load
    assert (limited["ok"], limited["timed_out"]) == (100, 2)
