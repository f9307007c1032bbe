"""What a trace needs and the target lacks is said before anything is sent."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from tests.unit.load.test_reading import given, read_input
from tests.unit.load.test_target import given as target_given
from tests.unit.load.test_target import kubeconfig

from perfq.kube import Kubeconfig
from perfq.load.preflight import preflight
from perfq.load.target import Target, find_target
from perfq.measure.manifest import TargetFacts

HEADER = {"schema": "perfq.trace/v1", "source": {}, "counts": {}, "losses": []}
CUSTOM = "/apis/example.test/v1/namespaces/there/widgets/a"


@pytest.fixture
def cluster() -> Iterator[dict[str, Any]]:
    """Paths → the pages of what is there, or a status. `url` is where."""
    answers: dict[str, Any] = {}

    class Page(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            parts = urlsplit(self.path)
            answer = answers.get(parts.path, 404)
            if isinstance(answer, list):
                at = int(parse_qs(parts.query).get("continue", ["0"])[0])
                more = str(at + 1) if at + 1 < len(answer) else ""
                answer = {"metadata": {"continue": more}, "items": [{"metadata": one} for one in answer[at]]}
            body = json.dumps(answer if isinstance(answer, dict) else {}).encode()
            self.send_response(answer if isinstance(answer, int) else 200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: Any) -> None:
            pass

    server = HTTPServer(("127.0.0.1", 0), Page)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    answers["url"] = f"http://127.0.0.1:{server.server_port}"
    yield answers
    server.shutdown()
    thread.join()
    server.server_close()


def said(cluster: dict[str, Any], folder: Path, *paths: tuple[str, str]) -> list[str]:
    """The remarks on a trace of these requests (verb, path)."""
    body = json.dumps({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}})
    lines: list[dict[str, Any]] = [HEADER]
    for at, (verb, path) in enumerate(paths):
        lines.append({"t_us": at, "verb": verb, "path": path} | ({"body": body} if verb == "CREATE" else {}))
    (folder / "trace").write_text("".join(json.dumps(line) + "\n" for line in lines))
    found = Kubeconfig.locate(kubeconfig(folder / "kc", cluster["url"]))
    assert found is not None
    target = Target(TargetFacts(kind="cluster"), endpoint=found.endpoint("here"))
    return [one.text for one in preflight(read_input(str(folder / "trace"), given()), target)]


def creates(namespace: str) -> tuple[str, str]:
    return "CREATE", f"/api/v1/namespaces/{namespace}/configmaps"


def test_namespaces_that_are_not_there_are_named_whatever_page_the_others_stand_on(
    cluster: dict[str, Any], tmp_path: Path
) -> None:
    cluster["/api/v1/namespaces"] = [[{"name": "kube-system"}], [{"name": "there"}]]
    remarks = said(cluster, tmp_path, creates("there"), creates("missing"))
    assert remarks == ["the target lacks the namespaces missing: requests will fail there"]


@pytest.mark.parametrize("there", [True, False])
def test_resources_that_the_target_does_not_serve_are_named(
    cluster: dict[str, Any], tmp_path: Path, there: bool
) -> None:
    if there:
        cluster["/apis/example.test/v1"] = {"resources": [{"name": "widgets"}, {"name": "widgets/status"}]}
    remarks = said(cluster, tmp_path, ("GET", CUSTOM))
    text = "the target lacks the resources widgets.example.test/v1: requests will fail there"
    assert remarks == ([] if there else [text])


def test_what_a_user_may_not_ask_is_not_known(cluster: dict[str, Any], tmp_path: Path) -> None:
    cluster["/api/v1/namespaces"] = 403
    (text,) = said(cluster, tmp_path, creates("there"))
    assert text == ("whether the target has the namespaces that are needed is not known: 403 on GET /api/v1/namespaces")


def test_reads_alone_need_nothing_and_ask_nothing(cluster: dict[str, Any], tmp_path: Path) -> None:
    assert said(cluster, tmp_path, ("GET", "/api/v1/namespaces/missing/pods/a")) == []


def test_what_the_embedded_server_lacks_is_named_as_any_other_s_and_service_accounts_it_does_not_ask_for(
    tmp_path: Path,
) -> None:
    pod = json.dumps(
        {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a"}, "spec": {"serviceAccountName": "robot"}}
    )
    lines = [
        HEADER,
        {"t_us": 0, "verb": "GET", "path": CUSTOM},
        {"t_us": 1, "verb": "CREATE", "path": "/api/v1/namespaces/missing/pods", "body": pod},
        {"t_us": 2, "verb": "CREATE", "path": "/api/v1/namespaces/bench-0000/pods", "body": pod},
    ]
    (tmp_path / "trace").write_text("".join(json.dumps(line) + "\n" for line in lines))
    planned = read_input(str(tmp_path / "trace"), given())
    assert planned.needs is not None
    assert planned.needs["service_accounts"]
    target = find_target(target_given())
    assert [one.text for one in preflight(planned, target)] == [
        "the target lacks the namespaces missing: requests will fail there",
        "the target lacks the resources widgets.example.test/v1: requests will fail there",
    ]
    assert list(preflight(replace(planned, needs=None), target)) == []
