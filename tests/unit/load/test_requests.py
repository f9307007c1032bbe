"""Inputs that list their requests: kperf's replay profiles, traces, and groups that replay."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import HTTPServer, SimpleHTTPRequestHandler
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from tests.unit.load.test_reading import check, given, read_input

from perfq.cli import cli
from perfq.errors import UsageError

REPLAY = """
version: 1
description: three reads and a write
spec: {runnerCount: 2, connsPerRunner: 3, clientsPerRunner: 7, contentType: json, disableHTTP2: true}
requests:
- {timestamp: 0, verb: GET, namespace: a, resourceKind: Pod, name: p-1, apiPath: /api/v1/namespaces/a/pods/p-1}
- {timestamp: 100, verb: LIST, namespace: a, resourceKind: Pod, apiPath: /api/v1/namespaces/a/pods}
- {timestamp: 200, verb: GET, namespace: a, resourceKind: Pod, name: p-2, apiPath: /api/v1/namespaces/a/pods/p-2}
- {timestamp: 400, verb: DELETE, namespace: a, resourceKind: Pod, name: p-1, apiPath: /api/v1/namespaces/a/pods/p-1}
"""
GROUP = "count: {count}\nreplayProfile: {profile}\n"


@pytest.fixture
def replay(tmp_path: Path) -> Path:
    path = tmp_path / "replay.yaml"
    path.write_text(REPLAY)
    return path


def test_a_replay_profile_says_itself_with_what_it_is_sent(replay: Path) -> None:
    planned = read_input(str(replay), given())
    facts = planned.segments[0].facts
    assert (planned.facts.kind, planned.planned, planned.duration_ns) == ("kperf replay", 4, 400_000_000)
    assert (facts.runners, facts.connections, facts.in_flight, facts.protocol) == (2, 3, 7, "http1")
    assert (dict(planned.verbs), planned.writes) == ({"DELETE": 1, "GET": 2, "LIST": 1}, True)
    assert planned.replay == replay


def test_flags_come_before_what_the_input_says(replay: Path) -> None:
    flags = given(runners=5, connections=1, in_flight=2, protocol="http2", accept="protobuf")
    facts = read_input(str(replay), flags).segments[0].facts
    assert (facts.runners, facts.connections, facts.in_flight) == (5, 1, 2)
    assert (facts.protocol, facts.accept) == ("http2", "protobuf")


def test_one_runner_has_its_own_requests_alone(replay: Path) -> None:
    counts = [read_input(str(replay), given(runner_index=index)).planned or 0 for index in range(2)]
    assert sum(counts) == 4
    with pytest.raises(UsageError, match="--runner-index: got 2, expected 0 to 1: there are 2 runners"):
        read_input(str(replay), given(runner_index=2))


def test_a_trace_that_says_nothing_gets_what_its_rate_asks_for(tmp_path: Path) -> None:
    path = tmp_path / "a.trace"
    lines: list[dict[str, Any]] = [{"schema": "perfq.trace/v1", "source": {}, "counts": {}, "losses": []}]
    lines += [{"t_us": i * 1_000, "verb": "GET", "path": "/version"} for i in range(2_001)]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    facts = read_input(str(path), given()).segments[0].facts
    assert (facts.runners, facts.planned, facts.duration_ns) == (1, 2_001, 2_000_000_000)
    assert (facts.connections, facts.in_flight) == (15, 110)


def test_fields_cannot_be_set_in_a_list_of_requests(replay: Path) -> None:
    with pytest.raises(UsageError, match="--seed: is for load profiles"):
        read_input(str(replay), given(seed=3))


def test_a_mistake_is_named_with_its_line(tmp_path: Path) -> None:
    path = tmp_path / "broken.yaml"
    path.write_text(REPLAY.replace("timestamp: 100, verb: LIST", "timestamp: 100, verb: FETCH"))
    with pytest.raises(UsageError, match=f"{path}:7: .*FETCH"):
        read_input(str(path), given())


@pytest.mark.parametrize(("count", "accepted"), [(2, True), (3, False)])
def test_a_group_has_as_many_runners_as_the_profile_that_it_replays(
    count: int, accepted: bool, replay: Path, tmp_path: Path
) -> None:
    group = tmp_path / "group.yaml"
    group.write_text(GROUP.format(count=count, profile=replay.name))
    code, out, err = check(str(group))
    if accepted:
        assert (code, "requests    4" in out) == (0, True)
    else:
        assert code == 2
        assert f"{group}:1: count: got 3, expected 2, the runnerCount of replay.yaml" in err


def test_a_group_that_names_a_url_is_checked_without_a_fetch(tmp_path: Path) -> None:
    group = tmp_path / "group.yaml"
    group.write_text(GROUP.format(count=2, profile="https://me:secret@host.invalid/replay.yaml.gz?sig=x"))
    code, out, err = check(str(group))
    assert code == 0
    assert "runner group" in out
    assert "2 runners replay https://host.invalid/replay.yaml.gz?…, which was not fetched; add --fetch" in err
    assert "secret" not in out + err
    assert "sig" not in out + err


@pytest.fixture
def url(replay: Path) -> Iterator[str]:
    """A server on this machine that has the profile."""

    class Files(SimpleHTTPRequestHandler):
        def __init__(self, *args: Any) -> None:
            super().__init__(*args, directory=str(replay.parent))

        def log_message(self, *_: object) -> None:
            """Says nothing."""

    with HTTPServer(("127.0.0.1", 0), Files) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}/{replay.name}"
        server.shutdown()


def test_a_url_is_checked_where_fetching_was_asked_for(url: str) -> None:
    code, _, err = check(url)
    assert (code, "not fetched, so that nothing was checked; add --fetch" in err) == (2, True)
    code, out, _ = check(url, "--fetch")
    assert (code, "requests    4" in out) == (0, True)
    assert f"kperf replay {url}" in out


def test_a_mistake_in_what_was_fetched_names_the_url(url: str, replay: Path) -> None:
    replay.write_text(REPLAY.replace("runnerCount: 2", "runnerCount: 0"))
    code, _, err = check(url, "--fetch")
    assert code == 2
    assert err.startswith(f"{url}:4: ")


def run(*arguments: str) -> tuple[int, str, str]:
    done = CliRunner().invoke(cli, ["load", *arguments])
    if isinstance(done.exception, UsageError):
        return done.exception.exit_code, done.stdout, str(done.exception)
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
    return done.exit_code, done.stdout, done.stderr


def test_plan_counts_the_requests_of_each_runner_and_the_hottest_keys(replay: Path) -> None:
    code, out, _ = run("plan", str(replay), "--json")
    plan = json.loads(out)
    assert code == 0
    assert [one["index"] for one in plan["runners"]] == [0, 1]
    counts = [one["requests"] for one in plan["runners"]]
    assert (sum(counts), plan["min"], plan["max"]) == (4, min(counts), max(counts))
    assert plan["imbalance_percent"] == pytest.approx((max(counts) / 2 - 1) * 100)
    assert plan["hot_keys"][0] == {"key": "a/Pod/p-1", "requests": 2}
    assert "a/Pod/p-1" in run("plan", str(replay))[1]


def test_plan_of_a_load_profile_is_the_same_for_each_runner(repository: Path) -> None:
    group = repository / "docs" / "examples" / "load" / "runner-group.yaml"
    plan = json.loads(run("plan", str(group), "--json")[1])
    assert (plan["min"], plan["max"], plan["imbalance_percent"], plan["hot_keys"]) == (15, 15, 0.0, [])


def test_convert_makes_a_trace_that_comes_to_the_same(replay: Path, tmp_path: Path) -> None:
    trace = tmp_path / "a.trace.zst"
    code, out, _ = run("convert", str(replay), "--out", str(trace))
    assert (code, "4 requests over 0.4 s" in out) == (0, True)
    planned = read_input(str(trace), given())
    assert (planned.facts.kind, planned.planned, planned.segments[0].facts.runners) == ("trace", 4, 2)
    code, _, err = run("convert", str(replay), "--out", str(trace))
    assert (code, "exists" in err) == (2, True)


def test_a_load_profile_has_nothing_to_convert(repository: Path, tmp_path: Path) -> None:
    profile = repository / "docs" / "examples" / "load" / "stages.yaml"
    code, _, err = run("convert", str(profile), "--out", str(tmp_path / "a.trace"))
    assert (code, "there is nothing to convert" in err) == (2, True)


def test_a_trace_of_watches_without_an_end_asks_for_one(tmp_path: Path) -> None:
    path = tmp_path / "watches.trace"
    lines: list[dict[str, Any]] = [{"schema": "perfq.trace/v1", "source": {}, "counts": {}, "losses": []}]
    lines += [{"t_us": 0, "verb": "WATCH", "path": "/api/v1/pods", "query": "watch=true"}]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    assert read_input(str(path), given()).endless
    code, _, err = run("run", str(path), "--out", str(tmp_path / "run"))
    assert (code, "say when it ends with --max-time" in err) == (2, True)


def test_a_recording_is_rewritten_as_the_flags_say(replay: Path) -> None:
    planned = read_input(str(replay), given(speed=2.0, only=("GET",)))
    assert (dict(planned.verbs), planned.writes, planned.duration_ns) == ({"GET": 2}, False, 100_000_000)
    planned = read_input(str(replay), given(window=(100_000, 300_000)))
    assert planned.planned == 2
    mapped = given(namespace_map=("a=b",), skip=("DELETE",))
    assert read_input(str(replay), mapped).reading["rewrite"]["namespaces"] == {"a": "b"}


def test_what_is_converted_is_rewritten_once(replay: Path, tmp_path: Path) -> None:
    trace = tmp_path / "fast.trace"
    code, _, _ = run("convert", str(replay), "--out", str(trace), "--speed", "2", "--namespace-map", "a=b")
    assert code == 0
    assert "/namespaces/b/" in trace.read_text()
    assert read_input(str(trace), given()).duration_ns == 200_000_000


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        (given(namespace_map=("a",)), "--namespace-map: got 'a', expected FROM=TO"),
        (given(name_prefix=("a=b", "a=c")), "--name-prefix: got 'a=c', expected FROM=TO, each FROM once"),
        (given(only=("FETCH",)), "FETCH"),
        (given(speed=0.0), "speed"),
    ],
)
def test_a_rewriting_that_cannot_be_is_a_usage_error(flags: dict[str, Any], said: str, replay: Path) -> None:
    with pytest.raises(UsageError, match=said):
        read_input(str(replay), flags)


def test_a_load_profile_is_no_recording_to_rewrite(repository: Path) -> None:
    profile = repository / "docs" / "examples" / "load" / "stages.yaml"
    with pytest.raises(UsageError, match="--speed: is for recordings; this input is a load profile"):
        read_input(str(profile), given(speed=2.0))
