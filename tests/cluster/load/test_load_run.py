"""`perfq load run` on a real API server; its own audit log says how many of which requests came."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from tests.cluster.testbed import kubeconfig
from tests.cluster.testbed.bed import Bed
from tests.contract.load.running import Ended, command

pytestmark = pytest.mark.cluster

CONFIG_MAPS = {"version": "v1", "resource": "configmaps"}
NAMES = {"name": "cm", "keySpaceSize": 10}
NAMESPACE = {"version": "v1", "resource": "namespaces", "name": "kube-system"}
#: As the API server calls them.
VERBS = {"CREATE": "create", "DELETE": "delete", "GET": "get", "LIST": "list", "PATCH": "patch", "UPDATE": "update",
         "WATCH": "watch"}  # fmt: skip


def run_on(bed: Bed, profile: dict[str, Any], folder: Path, *arguments: str) -> Ended:
    """Runs a load or replay profile on the test bed, once: a second run would meet what the first has made."""
    path = folder / "profile.yaml"
    # JSON is YAML too.
    path.write_text(json.dumps(profile))
    target = ["--kubeconfig", str(bed.kubeconfig), "--context", kubeconfig.CONTEXT]
    ended = command("run", "--out", str(folder / "run"), str(path), *target, *arguments, out=folder / "run")
    # On a machine that is busy with other things the generator may be late, which is not what is tested.
    assert ended.code in (0, 4), ended.explain()
    return ended


def spec(*requests: dict[str, Any], **fields: Any) -> dict[str, Any]:
    """A spec of a load profile, with equal shares."""
    shared = [{"shares": 1, **one} for one in requests]
    return {"rate": 50, "total": 100, "conns": 5, "client": 20, "requests": shared} | fields


def of_every_type(namespace: str) -> dict[str, Any]:
    """A load profile with each type of request that needs no kubelet."""
    there = CONFIG_MAPS | {"namespace": namespace}
    one = there | {"name": "cm-1"}
    merge = '{"metadata": {"labels": {"a": "{seq}"}}}'
    operation = '[{"op": "add", "path": "/data", "value": {"c": "d"}}]'
    patches = [
        {"patch": there | NAMES | {"patchType": kind, "body": body}}
        for kind, body in (("merge", merge), ("strategic-merge", merge), ("json", operation))
    ]
    return {
        "version": 1,
        "description": "each type of request",
        "specs": [
            spec({"postDel": there | {"name": "cm"}}, total=10),
            spec(
                {"staleList": there},
                {"quorumList": there | {"limit": 5}},
                {"staleGet": one},
                {"quorumGet": one},
                {"put": there | NAMES | {"payloadSize": 512}},
                *patches,
                {"watchList": there},
                total=200,
            ),
            spec({"postDel": there | {"deleteRatio": 0.4, "payloadSize": 128}}),
        ],
    }


def seen_by(bed: Bed, namespace: str) -> Counter[str]:
    """Verbs of the requests on the namespace's ConfigMaps that perfq sent, as the server logged them."""
    path = f"/api/v1/namespaces/{namespace}/configmaps"
    events = (json.loads(line) for line in bed.audit_log.read_text().splitlines() if path in line)
    return Counter(
        event["verb"]
        for event in events
        if event["stage"] == "ResponseComplete" and event["userAgent"].startswith("perfq")
    )


def test_each_type_of_request_is_taken_and_the_server_has_seen_as_many(
    bed: Bed, namespace: str, tmp_path: Path
) -> None:
    counted = run_on(bed, of_every_type(namespace), tmp_path).result["load"]
    assert (counted["ok"], counted["planned"], counted["errors"]) == (310, 310, {})
    sent: Counter[str] = Counter()
    for series in counted["series"]:
        sent[VERBS[series["key"].split()[0]]] += series["ok"]
    assert sent.keys() == set(VERBS.values())
    assert seen_by(bed, namespace) == sent


def test_what_the_server_measured_stands_beside_what_the_client_did(bed: Bed, tmp_path: Path) -> None:
    profile = {"version": 1, "description": "reads", "specs": [spec({"quorumGet": NAMESPACE}, total=200, rate=100)]}
    ended = run_on(bed, profile, tmp_path, "--server-metrics")
    load = ended.result["load"]
    (own,) = (one for one in load["server"]["requests"] if one["key"] == "GET core/v1/namespaces object")
    (ours,) = (one for one in load["series"] if one["key"] == own["key"])
    # Other clients may read namespaces, too.
    assert own["count"] >= ours["ok"] == 200
    assert own["mean_ns"] <= ours["service"]["max"]
    # An administrator of the test bed is exempt from queues.
    assert load["priority_levels"] == {"exempt": 200}
    assert "## The server's own figures" in (ended.out / "report.md").read_text()
