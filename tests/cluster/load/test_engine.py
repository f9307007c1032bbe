"""The request engine against kube-apiserver: who asks, over what, and how the answers are counted."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.cluster.load.engine import send, trace
from tests.cluster.testbed import kubeconfig
from tests.cluster.testbed.bed import Bed

pytestmark = pytest.mark.cluster


def gets(count: int, path: str = "/api/v1/namespaces/default") -> list[dict[str, Any]]:
    return [{"t_us": 1_000 * i, "verb": "GET", "path": path} for i in range(count)]


@pytest.mark.parametrize("protocol", ["http1", "http2"])
@pytest.mark.parametrize("user", [kubeconfig.CONTEXT, kubeconfig.CERTIFICATE])
def test_a_token_and_a_certificate_are_taken_over_either_protocol(
    bed: Bed, tmp_path: Path, user: str, protocol: str
) -> None:
    end = send(bed, trace(tmp_path / "gets.trace", gets(200)), user=user, protocol=protocol).end
    assert (end["planned"], end["ok"], end["errors"]) == (200, 200, {})
    assert end["connections"]["reconnects"] == 0
    assert (end["connections"]["stream_limit"] is None) == (protocol == "http1")


def test_what_is_forbidden_or_not_there_is_an_error_and_never_ok(bed: Bed, tmp_path: Path) -> None:
    nobody = send(bed, trace(tmp_path / "nobody.trace", gets(50)), user=kubeconfig.NOBODY).end
    assert (nobody["ok"], nobody["errors"]) == (0, {"http/403": 50})
    absent = send(bed, trace(tmp_path / "absent.trace", gets(50, "/api/v1/namespaces/default/pods/none"))).end
    assert (absent["ok"], absent["errors"]) == (0, {"http/404": 50})


def test_a_status_that_the_trace_expects_is_ok(bed: Bed, tmp_path: Path) -> None:
    expected = [get | {"expect_status": 404} for get in gets(20, "/api/v1/namespaces/default/pods/none")]
    end = send(bed, trace(tmp_path / "absent.trace", expected)).end
    assert (end["ok"], end["errors"]) == (20, {})


def test_answers_in_protobuf_are_counted_by_their_envelope(bed: Bed, tmp_path: Path) -> None:
    end = send(bed, trace(tmp_path / "gets.trace", gets(50)), accept="protobuf").end
    assert (end["ok"], end["envelopes"]) == (50, 50)


@pytest.mark.parametrize("protocol", ["http1", "http2"])
def test_watches_live_as_long_as_the_trace_says_and_see_what_is_written(
    bed: Bed, namespace: str, tmp_path: Path, protocol: str
) -> None:
    path = f"/api/v1/namespaces/{namespace}/configmaps"
    watches = [
        {"t_us": 0, "verb": "WATCH", "path": path, "query": "watch=1&allowWatchBookmarks=true", "watch_us": 3_000_000}
        for _ in range(20)
    ]
    creates = [
        {
            "t_us": 1_000_000 + 1_000 * i,
            "verb": "CREATE",
            "path": path,
            "body": json.dumps({"metadata": {"name": f"c-{i}"}}),
        }
        for i in range(50)
    ]
    end = send(bed, trace(tmp_path / "watches.trace", watches + creates), protocol=protocol).end
    assert (end["ok"], end["errors"]) == (70, {})
    assert (end["watches"]["opened"], end["watches"]["relists"]) == (20, 0)
    # Each watch is told of each object; bookmarks come on top.
    assert end["watches"]["events"] >= 20 * 50
