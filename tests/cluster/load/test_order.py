"""Per-object order on the real server: different objects in parallel, one object's requests one after another."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.cluster.load.engine import Sent, send, trace
from tests.cluster.testbed.bed import Bed

pytestmark = pytest.mark.cluster

OBJECTS, PATCHES = 500, 20


def lives(namespace: str) -> Iterator[dict[str, Any]]:
    """create → patch × 20 → delete of each object; all of it is due within 11 ms, one object after another."""
    path = f"/api/v1/namespaces/{namespace}/configmaps"
    due = 0
    for number in range(OBJECTS):
        name = f"object-{number}"
        body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}}
        life: list[dict[str, Any]] = [{"verb": "CREATE", "path": path, "body": json.dumps(body)}]
        for step in range(PATCHES):
            patch = json.dumps({"data": {"step": str(step)}})
            life.append({"verb": "PATCH", "path": f"{path}/{name}", "body": patch,
                         "content_type": "application/merge-patch+json"})  # fmt: skip
        life.append({"verb": "DELETE", "path": f"{path}/{name}"})
        for request in life:
            yield {"t_us": due, "key": f"{namespace}/ConfigMap/{name}"} | request
            due += 1


def lived(bed: Bed, namespace: str, folder: Path, ordering: str) -> Sent:
    return send(bed, trace(folder / f"{ordering}.trace", lives(namespace)), ordering=ordering)


def test_no_request_overtakes_another_on_its_object_while_hundreds_are_under_way(
    bed: Bed, namespace: str, tmp_path: Path
) -> None:
    sent = lived(bed, namespace, tmp_path, "object")
    assert (sent.end["ok"], sent.end["errors"]) == (OBJECTS * (PATCHES + 2), {})
    assert sent.in_flight_max >= 100
    # One after another they would have taken the sum of their times.
    assert sent.end["wall_ns"] <= sent.service.sum / 10


def test_without_order_the_same_requests_meet_objects_that_are_not_there(
    bed: Bed, namespace: str, tmp_path: Path
) -> None:
    end = lived(bed, namespace, tmp_path, "none").end
    assert end["errors"].keys() <= {"http/404", "http/409"}
    assert sum(end["errors"].values()) > 0
    assert end["ok"] + sum(end["errors"].values()) == end["planned"] == OBJECTS * (PATCHES + 2)
