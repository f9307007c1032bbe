"""The embedded API server: LIST against a bare writer of the same bytes, memory an object, lag of its commits.

Server and bare writer are processes of their own; one reader, in this process, reads both in turn.
"""

from __future__ import annotations

import json
import re
import socket
import ssl
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benches.run import replayed
from benches.table import Row, Target

PERFQ = str(Path(sys.executable).with_name("perfq"))
PROFILES = Path(__file__).parent.parent / "python" / "perfq" / "profiles"
BUFFER = memoryview(bytearray(8 << 20))


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where a server answers; `context` and `token` with TLS."""

    port: int
    pid: int
    context: ssl.SSLContext | None = None
    token: str | None = None


@contextmanager
def serving(profile: str, *flags: str) -> Iterator[Endpoint]:
    """`perfq serve PROFILE`, until the block ends."""
    command = [PERFQ, "serve", profile, "--json", *flags]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
        assert process.stdout is not None
        try:
            told = json.loads(process.stdout.readline())
            port = int(told["server"].rsplit(":", 1)[1])
            yield Endpoint(port, process.pid, *credentials(Path(told["kubeconfig"])))
        finally:
            process.terminate()


def credentials(kubeconfig: Path) -> tuple[ssl.SSLContext | None, str | None]:
    """TLS context and token of a kubeconfig; None and None for plain HTTP."""
    import base64

    import yaml

    document: dict[str, Any] = yaml.safe_load(kubeconfig.read_text())
    authority = document["clusters"][0]["cluster"].get("certificate-authority-data")
    if authority is None:
        return None, None
    context = ssl.create_default_context(cadata=base64.b64decode(authority).decode())
    return context, document["users"][0]["user"]["token"]


def get(endpoint: Endpoint, path: str) -> tuple[float, bytes]:
    """Seconds from the connection to the last byte, and the first bytes of the answer with its head."""
    token = f"Authorization: Bearer {endpoint.token}\r\n" if endpoint.token else ""
    request = f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\n{token}Connection: close\r\n\r\n".encode()
    before = time.perf_counter()
    start = b""
    with socket.create_connection(("127.0.0.1", endpoint.port)) as plain:
        wrapped = endpoint.context.wrap_socket(plain, server_hostname="127.0.0.1") if endpoint.context else plain
        wrapped.sendall(request)
        while count := wrapped.recv_into(BUFFER):
            if len(start) < 4096:
                start += bytes(BUFFER[: min(count, 4096)])
    taken = time.perf_counter() - before
    assert start.startswith(b"HTTP/1.1 200"), start[:200]
    return taken, start


def length(start: bytes) -> int:
    """The content-length of an answer."""
    found = re.search(rb"content-length: (\d+)", start)
    assert found, start[:200]
    return int(found[1])


def chain(endpoint: Endpoint, page: int) -> tuple[float, list[int]]:
    """Seconds of a whole LIST in pages, each on a connection of its own, and the size of each page."""
    taken, sizes, more = 0.0, [], ""
    while True:
        seconds, start = get(endpoint, f"/api/v1/pods?limit={page}{more}")
        taken += seconds
        sizes.append(length(start))
        found = re.search(rb'"continue":"([^"]+)"', start)
        if not found:
            return taken, sizes
        more = f"&continue={found[1].decode()}"


@dataclass(frozen=True, slots=True)
class Writer:
    """The bare writer."""

    port: int

    def seconds(self, sizes: list[int]) -> float:
        """Reads answers of these sizes, one after another."""
        return sum(get(Endpoint(self.port, 0), f"/{size}")[0] for size in sizes)


@contextmanager
def bare_writer(largest: int) -> Iterator[Writer]:
    """The bare writer with as many bytes as the largest answer, until the block ends."""
    with tempfile.NamedTemporaryFile(dir="/dev/shm") as file:
        file.truncate(largest)
        command = [sys.executable, "-m", "benches.bare_writer", file.name]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout is not None
            try:
                yield Writer(int(process.stdout.readline()))
            finally:
                process.terminate()


def against(name: str, endpoint: Endpoint, path: str, writer: Writer, repeats: int) -> Row:
    """One LIST against the bare writer, in turn; medians."""
    ours, bare, size = [], [], 0
    for _ in range(repeats):
        seconds, start = get(endpoint, path)
        size = length(start)
        ours.append(seconds)
        bare.append(writer.seconds([size]))
    rate = size / statistics.median(ours) / 1e6
    peer = size / statistics.median(bare) / 1e6
    return Row(name, "MB/s", rate, peer, "more", Target("times", ">=", 0.7), f"{size / 1e6:.1f} MB; peer: bare writer")


def settled(endpoint: Endpoint) -> None:
    """Returns once the server's events have come and gone."""
    deadline = time.monotonic() + 30
    seen, since = b"", time.monotonic()
    while time.monotonic() - since < 1:
        assert time.monotonic() < deadline, "the events did not end"
        _, start = get(endpoint, "/api/v1/pods?limit=1")
        found = re.search(rb'"resourceVersion":"(\d+)"', start)
        assert found
        if found[1] != seen:
            seen, since = found[1], time.monotonic()
        time.sleep(0.05)


def rss(pid: int) -> int:
    """Resident bytes."""
    found = re.search(r"VmRSS:\s+(\d+) kB", Path(f"/proc/{pid}/status").read_text())
    assert found
    return int(found[1]) * 1024


def lists() -> Iterator[Row]:
    """LISTs of 50,000 Pods: plain, after events, in part, in pages, with TLS."""
    with serving("burst-50k", "--plain-http", "--start", "never") as server:
        whole = length(get(server, "/api/v1/pods")[1])
        with bare_writer(whole + (1 << 20)) as writer:
            yield against("LIST 50,000 Pods", server, "/api/v1/pods", writer, 7)
            namespace = "/api/v1/namespaces/bench-{}/pods"
            yield against("LIST of one namespace", server, namespace.format("0000"), writer, 101)
            yield against("LIST of another namespace", server, namespace.format("0499"), writer, 101)
            selector = "/api/v1/pods?fieldSelector=spec.nodeName%3Dnode-01"
            yield against("LIST by field selector, 10,000 Pods", server, selector, writer, 9)
            pages = [chain(server, 500) for _ in range(3)]
            sizes = pages[0][1]
            bare = statistics.median(writer.seconds(sizes) for _ in range(3))
            taken = statistics.median(seconds for seconds, _ in pages)
            rates = [sum(sizes) / seconds / 1e6 for seconds in (taken, bare)]
            note = f"{len(sizes)} pages; peer: bare writer"
            yield Row("LIST in pages of 500", "MB/s", rates[0], rates[1], "more", note=note)
    profile = {**json.loads((PROFILES / "burst-50k.json").read_text()), "id": "events-1000", "bursts": []}
    profile |= {"steady_events_per_second": 1000, "duration_seconds": 1}
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        file.write(json.dumps(profile))
        file.flush()
        with serving(file.name, "--plain-http", "--start", "now") as server, bare_writer(whole + (1 << 22)) as writer:
            settled(server)
            yield against("LIST 50,000 Pods after 1,000 events", server, "/api/v1/pods", writer, 7)
    with serving("burst-50k", "--start", "never") as server:
        taken = statistics.median(get(server, "/api/v1/pods")[0] for _ in range(5))
        yield Row("LIST 50,000 Pods over TLS", "MB/s", whole / taken / 1e6, "–", "more")
        note = f"{whole / 1e6:.0f} MB; peer: kube-apiserver from its watch cache"
        yield Row("LIST 50,000 Pods over TLS", "s", taken, target=Target("times", ">=", 10), note=note)


def memory() -> Iterator[Row]:
    """What 50,000 Pods cost beyond their JSON; both servers fresh, none of them read from."""
    with serving("smoke-1k", "--plain-http", "--start", "never", "--set", "object_count=20") as small:
        base = rss(small.pid)
    with serving("burst-50k", "--plain-http", "--start", "never") as large:
        held = rss(large.pid)
        whole = length(get(large, "/api/v1/pods")[1])
        after = rss(large.pid)
    beyond = (held - base - whole) / 50_000 / 1024
    note = f"{whole / 50_000:.0f} bytes of JSON a Pod; {held / 1e6:.0f} MB in all"
    yield Row("memory beyond an object's JSON", "KiB", beyond, "–", target=Target("value", "<=", 2.5), note=note)
    yield Row("the same after a LIST", "KiB", (after - base - whole) / 50_000 / 1024, "–")


def rows() -> Iterator[Row]:
    """All of the server's figures."""
    yield from lists()
    yield from memory()
    result = replayed("burst-50k", "--client", "watch")
    lag = result.figure("latency.commit_lag.p99", 1e-6)
    note = f"{result.verdict}, n {result.figure('latency.commit_lag.count'):.0f}" if lag is not None else result.verdict
    yield Row("commit_lag p99, burst-50k", "ms", lag, "–", target=Target("value", "<=", 2), note=note)
