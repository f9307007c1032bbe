"""Questions to an API server: of every length, over connections that close in between, to servers that are gone."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from perfq.errors import TargetUnreachable
from perfq.kube.asking import Asking, document_of, priority_levels, read_metrics
from perfq.kube.credential import Static
from perfq.kube.endpoint import Endpoint

LEVELS = {"items": [{"metadata": {"uid": "u-1", "name": "global-default"}}, {"metadata": {"name": "no uid"}}]}


class Handler(BaseHTTPRequestHandler):
    """Answers by path; keeps connections open, and counts them."""

    protocol_version = "HTTP/1.1"
    connections = 0
    heard: list[tuple[str, str | None]]

    def setup(self) -> None:
        super().setup()
        type(self).connections += 1

    def do_GET(self) -> None:
        self.heard.append((self.path, self.headers["Authorization"]))
        if self.path.endswith("/chunked"):
            self.send_response(200)
            self.send_header("Transfer-Encoding", "chunked")
            self.end_headers()
            self.wfile.write(b"5\r\nhello\r\n6\r\n world\r\n0\r\n\r\n")
            return
        body = json.dumps(LEVELS).encode() if "flowcontrol" in self.path else b"0123456789"
        self.send_response(404 if self.path.endswith("/none") else 200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
        # Closed without a word, as a server does with a connection that was idle for too long.
        self.close_connection = self.path.endswith("/leave")

    def log_message(self, format: str, *args: object) -> None:
        """Says nothing."""


@pytest.fixture
def handler() -> type[Handler]:
    """Of one test."""
    return type("Heard", (Handler,), {"connections": 0, "heard": []})


@pytest.fixture
def endpoint(handler: type[Handler]) -> Iterator[Endpoint]:
    """A server behind a base path, and a user with a token."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield Endpoint(f"http://127.0.0.1:{server.server_port}/k8s", "ctx", "default", Static(token="secret"))
    server.shutdown()
    server.server_close()


def test_questions_share_a_connection_and_carry_path_and_credential(endpoint: Endpoint, handler: type[Handler]) -> None:
    with Asking(endpoint) as server:
        assert server.get("/version", 100) == (200, b"0123456789")
        assert server.get("/none", 100) == (404, b"0123456789")
        assert server.get("/chunked", 100) == (200, b"hello world")
        assert server.get("/version", 100) == (200, b"0123456789")
    assert handler.heard[:2] == [("/k8s/version", "Bearer secret"), ("/k8s/none", "Bearer secret")]
    assert handler.connections == 1


@pytest.mark.parametrize("path", ["/version", "/chunked"])
def test_what_is_longer_than_it_may_be_is_cut_and_is_not_taken_for_the_next_answer(
    endpoint: Endpoint, handler: type[Handler], path: str
) -> None:
    with Asking(endpoint) as server:
        assert len(server.get(path, 4)[1]) == 4
        assert server.get("/version", 100) == (200, b"0123456789")
    assert handler.connections == 2


def test_a_connection_that_was_closed_between_two_questions_is_opened_again(
    endpoint: Endpoint, handler: type[Handler]
) -> None:
    with Asking(endpoint) as server:
        server.get("/leave", 100)
        assert server.get("/version", 100) == (200, b"0123456789")
    assert handler.connections == 2


def test_a_server_that_is_gone_is_named_with_the_reason(endpoint: Endpoint) -> None:
    gone = Endpoint("http://127.0.0.1:1", "ctx", "default", Static())
    with Asking(gone) as server, pytest.raises(TargetUnreachable, match=r"127\.0\.0\.1:1: .*refused; is the server of"):
        server.get("/version", 100)


def test_metrics_and_priority_levels_are_read(endpoint: Endpoint) -> None:
    assert read_metrics(endpoint, 100) == (200, b"0123456789")
    assert priority_levels(endpoint, 1000) == {"u-1": "global-default"}


@pytest.mark.parametrize("data", [b"", b"[]", b"<html>", b"\xff"])
def test_a_body_that_is_no_object_is_none(data: bytes) -> None:
    assert document_of(data) is None
