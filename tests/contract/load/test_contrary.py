"""The contrary server does what it is told and counts what it sees: other tests hold a client's word against it."""

from __future__ import annotations

import http.client
import json
import ssl
import threading
import time
from collections.abc import Callable
from typing import Any

import pytest
from tests.contract.deadline import wait_for
from tests.contract.load.conftest import Starts
from tests.contract.load.contrary import Contrary

pytestmark = pytest.mark.contract

POD = "/api/v1/namespaces/default/pods/a"


def connect(server: Contrary) -> http.client.HTTPConnection:
    if not server.tls:
        return http.client.HTTPConnection("127.0.0.1", server.port, timeout=30)
    trusting = ssl.create_default_context(cafile=server.ca_file)
    return http.client.HTTPSConnection("127.0.0.1", server.port, context=trusting, timeout=30)


def ask(server: Contrary, path: str = POD, method: str = "GET", body: bytes | None = None) -> tuple[int, Any]:
    """Status and body as JSON, on a connection of its own."""
    client = connect(server)
    try:
        client.request(method, path, body)
        response = client.getresponse()
        return response.status, json.loads(response.read())
    finally:
        client.close()


def test_undisturbed_it_answers_as_kubernetes_does_and_counts(contrary: Starts) -> None:
    server = contrary()
    status, pod = ask(server)
    assert (status, pod["kind"], pod["metadata"]["name"]) == (200, "Pod", "a")
    status, pods = ask(server, "/apis/apps/v1/namespaces/default/deployments")
    assert (status, pods["kind"], pods["apiVersion"]) == (200, "DeploymentList", "apps/v1")
    assert ask(server, "/api/v1/namespaces/default/pods", "POST", b"{}")[0] == 201
    assert ask(server, POD, "DELETE")[1]["status"] == "Success"
    counts = server.counts()
    assert counts["methods"] == {"DELETE": 1, "GET": 2, "POST": 1}
    assert counts["paths"][POD] == {"methods": {"DELETE": 1, "GET": 1}, "max_concurrency": 1}
    assert counts["completed"] == {"200": 3, "201": 1}
    assert [one["method"] for one in server.log()] == ["GET", "GET", "POST", "DELETE"]


def test_rules_choose_by_path_number_and_times(contrary: Starts) -> None:
    rules = [
        {"path": "/secrets", "do": {"status": {"code": 403}}},
        {"method": "GET", "every": 3, "times": 2, "do": {"status": {"code": 429, "retry_after": "1"}}},
    ]
    server = contrary(tls=False, rules=rules)
    assert ask(server, "/api/v1/secrets")[1]["reason"] == "Forbidden"
    # The request for secrets was one of the GETs as well.
    assert [ask(server)[0] for _ in range(12)] == [200, 429, 200, 200, 429, 200, 200, 200, 200, 200, 200, 200]
    server.behave()
    assert ask(server, "/api/v1/secrets")[0] == 200


@pytest.mark.parametrize(
    ("action", "error"),
    [
        ("reset", ConnectionResetError),
        ("close", http.client.RemoteDisconnected),
        ("garbage", http.client.BadStatusLine),
        ({"cut": {"announced": 100, "sent": 10, "end": "close"}}, http.client.IncompleteRead),
        ({"cut": {"announced": 100, "sent": 10, "end": "reset"}}, ConnectionResetError),
    ],
)
def test_what_is_broken_is_broken_for_an_ordinary_client(contrary: Starts, action: Any, error: type[Exception]) -> None:
    server = contrary(tls=False, rules=[{"do": action}])
    with pytest.raises(error):
        ask(server)
    assert server.counts()["completed"] == {}


def test_what_is_never_answered_stays_open_until_the_client_goes(contrary: Starts) -> None:
    server = contrary(tls=False, rules=[{"do": "never"}])
    client = connect(server)
    client.request("GET", POD)
    until(lambda: server.counts()["open"] == 1)
    client.close()
    until(lambda: server.counts()["open"] == 0)


def test_a_rate_is_kept_over_all_connections(contrary: Starts) -> None:
    """Forty requests at 100/s take 0.4 s, however many ask at once."""
    server = contrary(tls=False, rate=100)
    started = time.monotonic()
    threads = [threading.Thread(target=lambda: [ask(server) for _ in range(5)]) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert time.monotonic() - started >= 0.39
    assert 2 <= server.counts()["max_concurrency"] <= 8


def test_a_watch_has_its_events_its_bookmarks_and_its_end(contrary: Starts) -> None:
    server = contrary(tls=False, watch={"events": 4, "every_ms": 1, "bookmark_every": 2, "initial": 1, "then": "gone"})
    client = connect(server)
    client.request("GET", "/api/v1/pods?watch=1&sendInitialEvents=true")
    events = [json.loads(line) for line in client.getresponse()]
    kinds = [event["type"] for event in events]
    bookmarked = ["MODIFIED", "MODIFIED", "BOOKMARK"]
    assert kinds == ["ADDED", "BOOKMARK", *bookmarked, *bookmarked, "ERROR"]
    assert events[1]["object"]["metadata"]["annotations"] == {"k8s.io/initial-events-end": "true"}
    assert events[-1]["object"]["code"] == 410


def test_killed_it_listens_again_where_it_was_and_is_still_trusted(contrary: Starts) -> None:
    server = contrary()
    before = server.url
    assert ask(server)[0] == 200
    server.kill()
    with pytest.raises(ConnectionRefusedError):
        ask(server)
    server.start()
    assert server.url == before
    assert ask(server)[0] == 200


@pytest.mark.parametrize("certificate", ["expired", "other-name"])
def test_a_wrong_certificate_is_refused(contrary: Starts, certificate: str) -> None:
    server = contrary(flags=("--certificate", certificate))
    with pytest.raises(ssl.SSLCertVerificationError):
        ask(server)
    until(lambda: server.counts()["connections"]["handshake_failures"] == 1)


def until(holds: Callable[[], bool]) -> None:
    assert wait_for(holds, 30)
