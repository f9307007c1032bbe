"""kperf replay profiles on the real server, whose audit log counts along."""

from __future__ import annotations

import json
import os
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from tests.cluster.load.engine import send
from tests.cluster.load.test_load_run import seen_by
from tests.cluster.testbed.bed import Bed

from perfq._core import load_convert

pytestmark = pytest.mark.cluster

OBJECTS = 20
SAMPLE = Path(os.environ.get("PERFQ_KPERF_SRC", "/nonexistent")) / "kperf-unstable-replay/testdata/sample_replay.yaml"


def recorded(namespace: str) -> dict[str, Any]:
    """A recording with every verb that kperf replays; what it creates it deletes, one by one or at the end."""
    path = f"/api/v1/namespaces/{namespace}/configmaps"
    requests: list[dict[str, Any]] = []

    def add(at: int, verb: str, name: str = "", **more: str) -> None:
        place = {"namespace": namespace, "resourceKind": "ConfigMap"} | ({"name": name} if name else {})
        api_path = path if verb in ("CREATE", "LIST", "WATCH", "DELETECOLLECTION") else f"{path}/{name}"
        requests.append({"timestamp": at, "verb": verb, "apiPath": api_path} | place | more)

    def body(name: str, **fields: Any) -> str:
        return json.dumps({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}} | fields)

    add(0, "WATCH")
    for i in range(OBJECTS):
        add(100 + 10 * i, "CREATE", f"c-{i}", body=body(f"c-{i}"))
    for i in range(OBJECTS):
        add(400 + 10 * i, "GET", f"c-{i}")
        add(400 + 10 * i, "PATCH", f"c-{i}", body='{"metadata": {"labels": {"app": "seen"}}}')
    add(700, "APPLY", "applied", body=body("applied", data={"a": "b"}))
    add(710, "LIST")
    add(720, "LIST", labelSelector="app=seen")
    for i in range(0, OBJECTS, 2):
        add(800, "DELETE", f"c-{i}")
    add(900, "DELETECOLLECTION")
    spec = {"runnerCount": 2, "connsPerRunner": 2, "clientsPerRunner": 10, "contentType": "json"}
    return {"version": 1, "description": "every verb", "spec": spec, "requests": requests}


def test_every_verb_of_a_replay_reaches_the_server_as_often_as_recorded(
    bed: Bed, namespace: str, tmp_path: Path
) -> None:
    replay, trace = tmp_path / "replay.yaml", tmp_path / "replay.trace"
    # JSON is YAML too.
    replay.write_text(json.dumps(recorded(namespace)))
    load_convert(replay, trace)
    end = send(bed, trace, runners=2, connections=2, in_flight=10).end
    assert (end["planned"], end["ok"], end["errors"]) == (3 * OBJECTS + OBJECTS // 2 + 5, end["planned"], {})
    # An APPLY is a PATCH, to the server too.
    assert seen_by(bed, namespace) == Counter(
        create=OBJECTS, get=OBJECTS, patch=OBJECTS + 1, list=2, watch=1, delete=OBJECTS // 2, deletecollection=1
    )


@pytest.mark.skipif(not SAMPLE.exists(), reason="PERFQ_KPERF_SRC names no folder with kperf-unstable-replay in it")
def test_the_sample_of_kperf_runs_unchanged(bed: Bed, tmp_path: Path) -> None:
    load_convert(SAMPLE, tmp_path / "sample.trace")
    end = send(bed, tmp_path / "sample.trace", runners=2, connections=2, in_flight=10).end
    assert (end["ok"], end["errors"]) == (end["planned"], {})
