"""Files of requests as the native module reads them."""

from __future__ import annotations

import gzip
import json
from collections import Counter
from pathlib import Path

import pytest
import yaml

from perfq import _core

HEADER = '{"schema":"perfq.trace/v1","source":{},"counts":{},"losses":[]}'


def replay(path: Path, requests: int) -> Path:
    """A profile whose keys repeat, with bodies."""
    entries = []
    for i in range(requests):
        pod = f"pod-{i * i % 997}"
        create = i % 5 == 0
        entry = {
            "timestamp": i // 3,
            "verb": "CREATE" if create else "GET",
            "namespace": f"ns-{i % 7}",
            "resourceKind": "Pod",
            "name": pod,
            "apiPath": f"/api/v1/namespaces/ns-{i % 7}/pods" + ("" if create else f"/{pod}"),
        }
        if create:
            entry["body"] = json.dumps({"metadata": {"name": pod}, "n": i % 3, "pad": "x" * 150}, indent=1)
        entries.append(entry)
    entries[1] |= {"verb": "LIST", "name": "", "apiPath": "/api/v1/namespaces/ns-1/pods", "labelSelector": "a=b"}
    spec = {"runnerCount": 4, "connsPerRunner": 2, "contentType": "json"}
    document = {"version": 1, "description": "made by a test", "spec": spec, "requests": entries}
    path.write_text(yaml.safe_dump(document, sort_keys=False), encoding="utf-8")
    return path


def fnv1a64(text: str) -> int:
    """FNV-1a, 64 bit, once more."""
    value = 0xCBF29CE484222325
    for byte in text.encode():
        value = (value ^ byte) * 0x100000001B3 % 2**64
    return value


def test_the_plan_agrees_with_a_count_of_the_same_file_that_is_not_ours(tmp_path: Path) -> None:
    path = replay(tmp_path / "replay.yaml", 3_000)
    keys: Counter[str] = Counter()
    for entry in yaml.safe_load(path.read_text(encoding="utf-8"))["requests"]:
        name = entry["name"] or f"?labelSelector={entry['labelSelector']}"
        keys[f"{entry['namespace']}/{entry['resourceKind']}/{name}"] += 1
    counts = [0] * 10
    for key, count in keys.items():
        counts[fnv1a64(key) % 10] += count
    plan = _core.load_plan(path, 10, hot_keys=3)
    assert [runner["requests"] for runner in plan["runners"]] == counts
    assert [runner["index"] for runner in plan["runners"]] == list(range(10))
    assert (plan["min"], plan["max"]) == (min(counts), max(counts))
    assert plan["imbalance_percent"] == pytest.approx((max(counts) / (sum(counts) / 10) - 1) * 100)
    expected = sorted(keys.items(), key=lambda item: (-item[1], item[0]))[:3]
    assert [(key["key"], key["requests"]) for key in plan["hot_keys"]] == expected
    assert plan["hot_keys_missed"] == 0


def test_a_replay_profile_says_what_it_holds(tmp_path: Path) -> None:
    path = replay(tmp_path / "any.name", 300)
    assert _core.load_detect(path) == ("kperf-replay", "plain")
    found = _core.load_open(path)
    assert found["spec"] == {
        "runnerCount": 4,
        "connsPerRunner": 2,
        "clientsPerRunner": 2,
        "contentType": "json",
        "disableHTTP2": False,
    }
    assert found["description"] == "made by a test"
    assert (found["planned"], found["span_us"]) == (300, 99_000)
    assert found["counts"]["verbs"] == {"CREATE": 60, "GET": 239, "LIST": 1}
    assert found["warnings"] == [] and found["losses"] == []


@pytest.mark.parametrize("name", ["a.trace", "a.trace.gz", "a.trace.zst"])
def test_a_trace_made_of_a_profile_holds_the_same_requests(tmp_path: Path, name: str) -> None:
    path = replay(tmp_path / "replay.yaml", 300)
    made = _core.load_convert(path, tmp_path / name)
    trace = _core.load_open(tmp_path / name)
    assert trace["counts"] == made["counts"] and trace["spec"] == made["spec"]
    assert trace["digest"] == made["header"]["digest"]
    assert trace["source"]["digest"] == made["digest"]
    assert _core.load_plan(tmp_path / name, 7) == _core.load_plan(path, 7)
    with pytest.raises(ValueError, match=f"{name}: the file exists already"):
        _core.load_convert(path, tmp_path / name)


def test_a_mistake_is_told_with_file_and_line(tmp_path: Path) -> None:
    path = replay(tmp_path / "replay.yaml", 30)
    text = path.read_text(encoding="utf-8")
    line = text[: text.index("verb: LIST")].count("\n") + 1
    path.write_text(text.replace("verb: LIST", "verb: list"), encoding="utf-8")
    with pytest.raises(ValueError, match=f'^{path}:{line}: verb is "list": one of CREATE, GET, '):
        _core.load_open(path)
    for call in (lambda: _core.load_plan(path, 2), lambda: _core.load_convert(path, tmp_path / "a.trace")):
        with pytest.raises(ValueError, match=f"^{path}:{line}: verb is "):
            call()
    assert not (tmp_path / "a.trace").exists()


def test_a_typo_is_refused_or_said_as_asked(tmp_path: Path) -> None:
    path = replay(tmp_path / "replay.yaml", 30)
    path.write_text(path.read_text(encoding="utf-8").replace("connsPerRunner", "connPerRunner", 1), encoding="utf-8")
    with pytest.raises(ValueError, match='the key "connPerRunner" of spec is unknown: runnerCount, '):
        _core.load_open(path)
    with pytest.raises(ValueError, match="spec needs connsPerRunner"):
        _core.load_open(path, {"allow_unknown": True})
    path.write_text(f'{HEADER}\n{{"t_us":0,"verb":"GET","path":"/version","tries":1}}\n', encoding="utf-8")
    with pytest.raises(ValueError, match=f'^{path}:2: the key "tries" is unknown'):
        _core.load_open(path)
    found = _core.load_open(path, {"allow_unknown": True})
    assert found["warnings"] == [{"line": 2, "text": 'the key "tries" is unknown', "count": 1}]


def test_a_gzip_file_that_is_cut_off_is_refused(tmp_path: Path) -> None:
    path = replay(tmp_path / "replay.yaml", 3_000)
    packed = gzip.compress(path.read_bytes())
    path.write_bytes(packed)
    assert _core.load_open(path)["planned"] == 3_000
    path.write_bytes(packed[: len(packed) // 2])
    with pytest.raises(ValueError, match="the gzip data ends in the middle: the file was cut off"):
        _core.load_open(path)


def test_what_cannot_be_read_or_asked_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="none: No such file or directory"):
        _core.load_open(tmp_path / "none")
    with pytest.raises(FileNotFoundError):
        _core.load_detect(tmp_path / "none")
    path = replay(tmp_path / "replay.yaml", 3)
    with pytest.raises(ValueError, match="runners is 0: 1 to 1000000 were expected"):
        _core.load_plan(path, 0)
    with pytest.raises(ValueError, match="unknown field `allow`"):
        _core.load_open(path, {"allow": True})
    with pytest.raises(ValueError, match="No such file or directory"):
        _core.load_convert(path, tmp_path / "none" / "a.trace")
