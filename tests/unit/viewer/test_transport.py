"""Requests over a real socket: what an answer, a refusal and a silence become."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import ClassVar

import pytest

from perfq.errors import TargetUnreachable
from perfq.kube.credential import Static
from perfq.kube.endpoint import Endpoint
from perfq.viewer.transport import ApiTransport, Rejected, Unreachable, one_line

STATUS = '{"kind":"Status","message":"nodes is forbidden:\\n no\\u001b[31m","reason":"Forbidden"}'


class Server(BaseHTTPRequestHandler):
    """Answers by path."""

    protocol_version = "HTTP/1.1"
    seen: ClassVar[list[tuple[str, str | None, str | None]]]
    release: threading.Event

    def do_GET(self) -> None:
        self.seen.append((self.path, self.headers["Authorization"], self.headers["User-Agent"]))
        path = self.path.partition("?")[0]
        if path == "/base/ok":
            self.body(200, b"fine")
        elif path == "/base/busy":
            self.body(429, b"not JSON", {"Retry-After": "7"})
        elif path == "/base/odd":
            self.body(503, b"", {"Retry-After": "Wed, 21 Oct 2026 07:28:00 GMT"})
        elif path == "/base/forbidden":
            self.body(403, STATUS.encode())
        elif path == "/base/moved":
            self.body(302, b"", {"Location": "/base/ok"})
        elif path == "/base/cut":
            self.send_response(200)
            self.send_header("Content-Length", "100")
            self.end_headers()
            self.wfile.write(b"half")
            self.close_connection = True
        elif path.startswith("/base/stream"):
            self.stream(chunked=path.endswith("chunked"))

    def body(self, status: int, body: bytes, headers: dict[str, str] | None = None) -> None:
        self.send_response(status)
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def stream(self, *, chunked: bool) -> None:
        self.send_response(200)
        self.send_header("Transfer-Encoding" if chunked else "Connection", "chunked" if chunked else "close")
        self.end_headers()
        for piece in (b"one\n", b"two\n"):
            self.wfile.write(b"%x\r\n%s\r\n" % (len(piece), piece) if chunked else piece)
            self.wfile.flush()
        self.release.wait(30)
        self.close_connection = True

    def log_message(self, *_: object) -> None:
        """Says nothing."""


@pytest.fixture
def server() -> Iterator[tuple[str, type[Server]]]:
    class Handler(Server):
        seen: ClassVar[list[tuple[str, str | None, str | None]]] = []
        release = threading.Event()

    http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    http.daemon_threads = True
    threading.Thread(target=http.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{http.server_address[1]}/base", Handler
    Handler.release.set()
    http.shutdown()
    http.server_close()


def transport(url: str) -> ApiTransport:
    return ApiTransport(Endpoint(url, "", "", Static(token="t0ken")), user_agent="viewer/1")


def test_a_body_with_the_credential_and_the_query(server: tuple[str, type[Server]]) -> None:
    url, handler = server
    assert transport(url).get("/ok", {"limit": "500", "continue": "a b&c"}) == b"fine"
    assert handler.seen == [("/base/ok?limit=500&continue=a+b%26c", "Bearer t0ken", "viewer/1")]


@pytest.mark.parametrize(
    ("path", "status", "message", "retry_after"),
    [
        ("/busy", 429, "Too Many Requests", 7.0),
        ("/odd", 503, "Service Unavailable", 0.0),
        ("/forbidden", 403, "nodes is forbidden: no�[31m", 0.0),
        ("/moved", 302, "Found", 0.0),
    ],
)
def test_a_refusal_in_one_line_and_how_long_to_wait(
    server: tuple[str, type[Server]], path: str, status: int, message: str, retry_after: float
) -> None:
    url, _ = server
    for ask in (lambda: transport(url).get(path), lambda: transport(url).stream(path, {})):
        with pytest.raises(Rejected) as raised:
            ask()
        assert (raised.value.status, raised.value.message, raised.value.retry_after) == (status, message, retry_after)


def test_a_server_that_is_not_there_refuses(server: tuple[str, type[Server]]) -> None:
    with pytest.raises(Unreachable, match=r"^connection refused$"):
        transport("http://127.0.0.1:1").get("/ok")
    with pytest.raises(Unreachable):
        transport(server[0]).get("/cut")


def test_a_server_that_cannot_be_trusted_is_said_so(server: tuple[str, type[Server]]) -> None:
    with pytest.raises(Unreachable):
        transport(server[0].replace("http:", "https:")).get("/ok")


@pytest.mark.parametrize("kind", ["chunked", "plain"])
def test_a_stream_gives_what_comes_as_it_comes(server: tuple[str, type[Server]], kind: str) -> None:
    url, handler = server
    stream = transport(url).stream(f"/stream/{kind}", {"watch": "true"})
    pieces = stream.chunks()
    got = b""
    while got != b"one\ntwo\n":
        got += next(pieces)
    handler.release.set()
    rest: list[bytes] = []
    try:
        rest += pieces
    except Unreachable:
        assert kind == "chunked", "a chunked body has an end of its own, and the server left it out"
    assert rest == []


def test_a_stream_that_waits_is_ended_from_another_thread(server: tuple[str, type[Server]]) -> None:
    url, _ = server
    stream = transport(url).stream("/stream/chunked", {"watch": "true"})
    ended = threading.Event()

    def read() -> None:
        try:
            for _ in stream.chunks():
                pass
        except Unreachable:
            pass
        ended.set()

    threading.Thread(target=read, daemon=True).start()
    deadline = time.monotonic() + 10
    while not ended.wait(0.01):
        assert time.monotonic() < deadline
        stream.close()


def test_a_credential_that_cannot_be_had_is_a_problem_of_one_line(server: tuple[str, type[Server]]) -> None:
    class Broken(Static):
        def headers(self) -> dict[str, str]:
            raise TargetUnreachable("credential plugin x: no luck")

    asked = ApiTransport(Endpoint(server[0], "", "", Broken()), user_agent="v")
    with pytest.raises(Unreachable, match=r"^credential plugin x: no luck$"):
        asked.get("/ok")


def test_foreign_text_is_made_fit_for_one_line() -> None:
    assert one_line("a\n\tb\x1b[1m c") == "a b�[1m c"
    assert len(one_line("x" * 500)) == 200
