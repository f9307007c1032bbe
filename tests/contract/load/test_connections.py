"""Servers that die, connections that are reset, told to go away or refused: all counted, and the run goes on."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.contract.deadline import wait_for
from tests.contract.load.against import Protocol, load_profile, run, start
from tests.contract.load.conftest import Starts

pytestmark = pytest.mark.contract

both = pytest.mark.parametrize("protocol", ["http1", "http2"])


def classes(errors: dict[str, int]) -> set[str]:
    return {key.split("/")[0] for key in errors}


@both
def test_a_server_that_is_killed_and_comes_back_is_found_again(
    contrary: Starts, tmp_path: Path, protocol: Protocol
) -> None:
    server = contrary()
    profile = load_profile(tmp_path, protocol, 200, 800)
    running = start(tmp_path / "run", server, profile)
    assert wait_for(lambda: server.asked() >= 100)
    server.kill()
    assert wait_for(lambda: any(one["errors"] for one in running.recorded("load_slice")), 30), "no error was recorded"
    server.start()
    ended = running.ended()
    load = ended.load
    assert classes(load["errors"]) == {"connection"}, ended.explain()
    assert "connection/connection refused" in load["errors"]
    again = server.asked()
    assert again >= 100, "it was not found again"
    assert 100 + again <= load["ok"]
    assert load["ok"] + sum(load["errors"].values()) == load["planned"] == 800
    assert load["connections"]["reconnects"] >= 1


@pytest.mark.paced
@both
def test_connections_that_are_reset_are_counted_each_request_once(
    contrary: Starts, tmp_path: Path, protocol: Protocol
) -> None:
    server = contrary(rules=[{"path": "/configmaps", "every": 20, "do": "reset"}])
    profile = load_profile(tmp_path, protocol, 100, 200, conns=4, client=4)
    ended = run(tmp_path / "run", server, profile)
    load, counts = ended.load, server.counts()
    assert classes(load["errors"]) == {"connection"}, ended.explain()
    # Where many share a connection, some go down with another.
    assert 10 <= sum(load["errors"].values()) <= 20
    assert load["ok"] <= counts["completed"]["200"]
    # Requests that a busy machine sends late and at once may meet the same connection, which is reset once.
    resets = counts["connections"]["resets"]
    assert load["connections"]["resets"] == resets
    assert 5 <= resets <= 10
    # The last of them is not needed again.
    assert resets - 1 <= load["connections"]["reconnects"] <= resets


@both
def test_connections_that_are_closed_without_an_answer_are_errors(
    contrary: Starts, tmp_path: Path, protocol: Protocol
) -> None:
    server = contrary(rules=[{"path": "/configmaps", "every": 20, "do": "close"}])
    profile = load_profile(tmp_path, protocol, 200, 200, conns=1, client=1)
    ended = run(tmp_path / "run", server, profile)
    assert (ended.load["ok"], sum(ended.load["errors"].values())) == (190, 10), ended.explain()
    assert classes(ended.load["errors"]) == {"connection"}


@pytest.mark.parametrize("unprocessed", [0, 3])
def test_goaway_loses_nothing_and_is_no_retry(contrary: Starts, tmp_path: Path, unprocessed: int) -> None:
    """What stands above the last id goes out again on the next connection, due when it was due."""
    server = contrary(latency_ms=[20, 20], goaway={"after_streams": 40, "unprocessed": unprocessed})
    profile = load_profile(tmp_path, "http2", 400, 800, conns=2)
    ended = run(tmp_path / "run", server, profile)
    load, counts = ended.load, server.counts()
    assert (load["ok"], load["errors"], load["retries"]) == (800, {}, 0), ended.explain()
    assert counts["connections"]["goaways"] >= 10
    assert load["connections"]["goaways"] == counts["connections"]["goaways"]
    # No request was processed twice.
    assert server.asked() == 800
    if unprocessed:
        assert counts["connections"]["unprocessed"] > 0


def test_refused_streams_are_sent_again_and_are_no_retries(contrary: Starts, tmp_path: Path) -> None:
    """REFUSED_STREAM (7) says that nothing was done; RFC 9113, 8.7."""
    server = contrary(rules=[{"path": "/configmaps", "every": 10, "do": {"rst_stream": 7}}])
    ended = run(tmp_path / "run", server, load_profile(tmp_path, "http2", 400, 200))
    load = ended.load
    assert (load["ok"], load["errors"], load["retries"]) == (200, {}, 0), ended.explain()
    assert server.asked() == 222


@pytest.mark.parametrize("code", [2, 8])
def test_any_other_reset_of_a_stream_is_an_error(contrary: Starts, tmp_path: Path, code: int) -> None:
    server = contrary(rules=[{"path": "/configmaps", "every": 10, "do": {"rst_stream": code}}])
    ended = run(tmp_path / "run", server, load_profile(tmp_path, "http2", 400, 200))
    assert (ended.load["ok"], sum(ended.load["errors"].values())) == (180, 20), ended.explain()
    assert ended.load["retries"] == 0


def test_the_peers_stream_limit_is_read_and_kept(contrary: Starts, tmp_path: Path) -> None:
    server = contrary(max_streams=4, latency_ms=[50, 50])
    ended = run(tmp_path / "run", server, load_profile(tmp_path, "http2", 100, 200, conns=2, client=16))
    load = ended.load
    assert load["ok"] == 200, ended.explain()
    assert load["connections"]["stream_limit"] == 4
    counts = server.counts()
    assert counts["max_concurrency"] <= 4 * counts["connections"]["most_open"]


def test_a_certificate_that_is_refused_before_the_start_sends_nothing(contrary: Starts, tmp_path: Path) -> None:
    server = contrary(flags=("--certificate", "expired"))
    ended = run(tmp_path / "run", server, load_profile(tmp_path, "http2", 100, 100))
    assert ended.code == 7, ended.explain()
    assert "certificate" in ended.text
    assert "Traceback" not in ended.text
    assert server.counts()["requests"] == 0


@both
def test_a_certificate_that_is_refused_in_mid_run_is_counted_as_such(
    contrary: Starts, tmp_path: Path, protocol: Protocol
) -> None:
    server = contrary()
    running = start(tmp_path / "run", server, load_profile(tmp_path, protocol, 200, 400))
    assert wait_for(lambda: server.asked() >= 100)
    server.kill()
    server.flags = ("--certificate", "expired")
    server.start()
    ended = running.ended()
    assert ended.load["errors"]["connection/TLS handshake failed"] >= 100, ended.explain()
    assert server.counts()["requests"] == 0
    assert ended.load["ok"] >= 100


@both
def test_a_server_that_accepts_and_never_answers_is_unreachable(
    contrary: Starts, tmp_path: Path, protocol: Protocol
) -> None:
    server = contrary(accept="ignore")
    ended = run(tmp_path / "run", server, load_profile(tmp_path, protocol, 100, 100), "--timeout", "1s")
    assert ended.code == 7, ended.explain()
    assert "Traceback" not in ended.text


@both
def test_connections_that_are_accepted_and_never_served_in_mid_run_end_with_the_deadline(
    contrary: Starts, tmp_path: Path, protocol: Protocol
) -> None:
    """All connections are lost at once; those that replace them get as far as TCP."""
    server = contrary()
    running = start(tmp_path / "run", server, load_profile(tmp_path, protocol, 200, 400), "--grace", "500ms")
    assert wait_for(lambda: server.asked() >= 100)
    server.behave(accept="ignore", rules=[{"do": "reset"}])
    ended = running.ended()
    load = ended.load
    assert ended.code == 4, ended.explain()
    assert 90 <= load["ok"] <= server.counts()["completed"]["200"]
    assert load["not_sent"] > 0
    assert load["cancelled"] + load["timed_out"] <= 64
