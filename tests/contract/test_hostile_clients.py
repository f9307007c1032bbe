"""Clients that misbehave: each costs only the one that sent it."""

from __future__ import annotations

import json
import os
import resource
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress

import pytest
from tests.contract.deadline import wait_for
from tests.contract.server.embedded import ask, embedded, plan

from perfq._core import ApiServer

pytestmark = pytest.mark.contract

PODS = "/api/v1/pods"
POD = "/api/v1/namespaces/bench-0000/pods/pod-000000"


@pytest.fixture
def server() -> Iterator[ApiServer]:
    with embedded() as running:
        yield running


def well(server: ApiServer) -> bool:
    """Whether an ordinary client is served."""
    return len(ask(server, PODS).json["items"]) == 40


@contextmanager
def connected(server: ApiServer) -> Iterator[socket.socket]:
    with socket.create_connection(("127.0.0.1", server.port), timeout=30) as raw:
        yield raw


def answer(server: ApiServer, request: bytes) -> bytes:
    """What comes back for these bytes until the server closes or all of a head is there."""
    with connected(server) as raw:
        with suppress(ConnectionError):
            raw.sendall(request)
        got = b""
        with suppress(ConnectionError):
            while b"\r\n\r\n" not in got and (piece := raw.recv(65536)):
                got += piece
        return got


@pytest.mark.parametrize(
    "request_bytes",
    [
        b"\0" * 100 + b"\r\n\r\n",
        b"GET\r\n\r\n",
        b"GET /api/v1/pods HTTP/9.9\r\n\r\n",
        b"GET /api/v1/pods HTTP/1.1\r\nBad Header: x\r\n\r\n",
        b"POST /api/v1/namespaces HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nZZ\r\n",
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + b"\xff" * 64,
        os.urandom(4096),
    ],
    ids=["zeros", "no path", "version", "header name", "chunk size", "http/2 garbage", "random"],
)
def test_what_is_no_http_gets_a_400_or_a_closed_connection(server: ApiServer, request_bytes: bytes) -> None:
    got = answer(server, request_bytes)
    assert got == b"" or got.startswith((b"HTTP/1.1 4", b"\0\0")), got[:80]
    assert well(server)


def test_endless_headers_end_with_431_long_before_memory_does(server: ApiServer) -> None:
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    sent = 0
    with connected(server) as raw:
        raw.sendall(b"GET /api/v1/pods HTTP/1.1\r\n")
        with suppress(ConnectionError):
            while sent < 1 << 30:
                raw.sendall(b"X-Filler: " + b"x" * 65536 + b"\r\n")
                sent += 65536
        got = b""
        with suppress(ConnectionError):
            got = raw.recv(4096)
    assert sent < 1 << 25
    assert got == b"" or got.startswith(b"HTTP/1.1 431")
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 64 * 1024
    assert well(server)


def test_a_header_too_large_is_a_431(server: ApiServer) -> None:
    got = answer(server, b"GET /api/v1/pods HTTP/1.1\r\nHost: x\r\nX: " + b"x" * 100_000 + b"\r\n\r\n")
    assert got.startswith(b"HTTP/1.1 431")


def test_a_body_beyond_three_mebibytes_is_a_413_and_one_that_is_no_json_a_400(server: ApiServer) -> None:
    namespaces = "/api/v1/namespaces"
    assert ask(server, namespaces, "POST", b"x" * (4 << 20)).status == 413
    for body in (b"{", b"", b"[]", b"null", b"[" * 100_000, b'{"metadata":{"name":7}}', b"\xff\xfe"):
        refused = ask(server, namespaces, "POST", body)
        assert (refused.status, refused.json["kind"]) in {(400, "Status"), (422, "Status")}, body[:20]
    assert well(server)


@pytest.mark.parametrize(
    ("media", "patch"),
    [
        ("application/json-patch+json", b'[{"op":"replace","path":"/no/such/path","value":1}]'),
        ("application/json-patch+json", b'{"op":"add"}'),
        ("application/json-patch+json", b'[{"op":"test","path":"/metadata/name","value":"other"}]'),
        ("application/merge-patch+json", b'"text"'),
        ("application/strategic-merge-patch+json", b'{"$patch":"unheard"}'),
        ("application/apply-patch+yaml", b"a: [1"),
        ("application/x-unheard", b"{}"),
    ],
)
def test_a_patch_that_does_not_fit_is_a_status_and_leaves_the_object(
    server: ApiServer, media: str, patch: bytes
) -> None:
    before = ask(server, POD).body
    refused = ask(server, POD, "PATCH", patch, Content_Type=media)
    # An unknown $patch is a 500, as by the real server.
    assert 400 <= refused.status <= 500
    assert refused.json["kind"] == "Status"
    assert ask(server, POD).body == before


def test_slow_loris_connections_take_nothing_from_others(server: ApiServer) -> None:
    with ExitStack() as stack:
        lorises = [stack.enter_context(connected(server)) for _ in range(200)]
        for loris in lorises:
            loris.sendall(b"GET /api/v1/pods HTTP/1.1\r\nX-Slow: ")
        for _ in range(20):
            assert well(server)
            for loris in lorises[:20]:
                loris.sendall(b"x")


def drain(raw: socket.socket) -> None:
    """Reads until nothing comes any more."""
    with suppress(OSError):
        while raw.recv(1 << 20):
            pass


def test_a_watch_that_is_not_read_is_ended_as_slow_and_delays_no_other() -> None:
    busy = plan(object_count=4, steady_events_per_second=8000, duration_seconds=3)
    with embedded(busy) as server:
        rv = ask(server, PODS).json["metadata"]["resourceVersion"]
        with connected(server) as deaf, connected(server) as reader:
            request = f"GET {PODS}?watch=1&resourceVersion={rv} HTTP/1.1\r\nHost: x\r\n\r\n".encode()
            deaf.sendall(request)
            reader.sendall(request)
            assert wait_for(lambda: len(server.progress()["watches"]) == 2)
            server.start_churn()

            def most_events() -> int:
                return max(watch["events"] for watch in server.progress()["watches"])

            threading.Thread(target=drain, args=(reader,), daemon=True).start()
            assert wait_for(lambda: most_events() == 24_000)
            assert server.progress()["churn"]["committed"] == 24_000
            # The deaf one does not even read its end: its connection is closed.
            assert wait_for(lambda: server.progress()["totals"]["watches"]["ended"] == {"slow": 1})
            assert [watch["events"] for watch in server.progress()["watches"] if watch["open"]] == [24_000]


def test_selectors_of_any_size_cost_only_their_own_request(server: ApiServer) -> None:
    many = ",".join(f"k{i}!=v{i}" for i in range(3000))
    listed = ask(server, f"{PODS}?labelSelector={many}")
    assert (listed.status, len(listed.json["items"])) == (200, 40)
    deep = ask(server, f"{PODS}?labelSelector=" + "(" * 20_000)
    assert (deep.status, deep.json["reason"]) == (400, "BadRequest")
    huge = answer(server, b"GET /api/v1/pods?labelSelector=" + b"a" * (1 << 20) + b" HTTP/1.1\r\n\r\n")
    assert huge == b"" or huge.startswith((b"HTTP/1.1 414", b"HTTP/1.1 431"))
    assert well(server)


def test_what_is_not_served_is_a_status_with_a_reason(server: ApiServer) -> None:
    for method, path, status in (
        ("GET", "/api/v1/unheard", 404),
        ("GET", "/apis/unheard/v1/things", 404),
        ("POST", f"{POD}/exec", 501),
        ("POST", f"{POD}/eviction", 501),
        ("PUT", PODS, 405),
        ("OPTIONS", PODS, 405),
        ("POST", "/version", 405),
        ("GET", "/api/v1/namespaces/bench-0000/pods/../../../../etc/passwd", 404),
    ):
        refused = ask(server, path, method, b"{}" if method in {"POST", "PUT"} else None)
        assert (refused.status, refused.json["kind"]) == (status, "Status"), (method, path)
        assert refused.json["message"]


SERVER = """
import sys, json, resource
from perfq._core import ApiServer, Plan
resource.setrlimit(resource.RLIMIT_NOFILE, (int(sys.argv[1]),) * 2)
plan = Plan(sys.argv[2])
server = ApiServer.start({"plan": plan, "tls": False})
print(server.port, flush=True)
for line in sys.stdin:
    print(json.dumps(server.progress()["totals"]["connections"]), flush=True)
"""


@contextmanager
def with_descriptors(count: int) -> Iterator[tuple[int, Callable[[], dict[str, int]]]]:
    """A server in a process that may open so many files: its port, and its connection counts."""
    command = [sys.executable, "-c", SERVER, str(count), plan().profile_json]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        port = int(process.stdout.readline())

        def counts() -> dict[str, int]:
            assert process.stdin is not None
            assert process.stdout is not None
            process.stdin.write("\n")
            process.stdin.flush()
            told: dict[str, int] = json.loads(process.stdout.readline())
            return told

        yield port, counts
        process.stdin.close()
        process.wait(30)


def fetched(port: int) -> bytes:
    """The first bytes that an ordinary client gets."""
    deadline = time.monotonic() + 30
    while True:
        with suppress(ConnectionError), socket.create_connection(("127.0.0.1", port), timeout=30) as raw:
            raw.sendall(b"GET /version HTTP/1.1\r\nHost: x\r\n\r\n")
            if got := raw.recv(4096):
                return got
        assert time.monotonic() < deadline, "not served in time"


@pytest.mark.long(20)
def test_ten_thousand_idle_connections_make_room_for_one_that_asks() -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = min(10_000, hard - 200)
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, wanted + 200), hard))
    with with_descriptors(1024) as (port, counts), ExitStack() as stack:
        for _ in range(wanted):
            with suppress(ConnectionError):
                stack.enter_context(socket.create_connection(("127.0.0.1", port), timeout=30))
        assert fetched(port).startswith(b"HTTP/1.1 200")
        told = counts()
        assert told["evicted"] > 0
        assert told["open"] <= 1024


def test_without_descriptors_the_server_waits_counts_and_goes_on() -> None:
    code = "\n".join(
        (
            "import os, sys, json, resource, socket",
            "from perfq._core import ApiServer, Plan",
            "server = ApiServer.start({'plan': Plan(sys.argv[1]), 'tls': False})",
            "resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))",
            "taken = []",
            "try:",
            "    while True: taken.append(os.open('/dev/null', os.O_RDONLY))",
            "except OSError: pass",
            "os.close(taken.pop())",
            "client = socket.create_connection(('127.0.0.1', server.port), timeout=30)",
            "while not server.progress()['totals']['connections']['accept_errors']: pass",
            "for one in taken: os.close(one)",
            "client.sendall(b'GET /version HTTP/1.1\\r\\nHost: x\\r\\n\\r\\n')",
            "print(client.recv(15).decode())",
        )
    )
    command = [sys.executable, "-c", code, plan().profile_json]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout == "HTTP/1.1 200 OK\n"


def test_a_port_in_use_is_an_os_error_that_says_so(server: ApiServer) -> None:
    with pytest.raises(OSError, match="in use"):
        ApiServer.start({"plan": plan(), "tls": False, "port": server.port})


def test_without_the_token_nothing_but_health_and_version_is_told() -> None:
    import http.client
    import ssl

    with ApiServer.start({"plan": plan()}) as server:
        assert server.ca_pem is not None
        trusting = ssl.create_default_context(cadata=server.ca_pem)

        def status(path: str, token: str | None) -> int:
            client = http.client.HTTPSConnection("127.0.0.1", server.port, context=trusting, timeout=30)
            headers = {} if token is None else {"Authorization": f"Bearer {token}"}
            client.request("GET", path, headers=headers)
            return client.getresponse().status

        assert [status(PODS, token) for token in (None, "wrong", server.token)] == [401, 401, 200]
        assert [status(path, None) for path in ("/healthz", "/version", "/metrics")] == [200, 200, 401]
