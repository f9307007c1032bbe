"""An embedded server for one test, in this process, and plain requests to it."""

from __future__ import annotations

import http.client
import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from perfq._core import ApiServer, Plan


def plan(**fields: Any) -> Plan:
    """A small plan: 40 Pods in 4 namespaces, 50 events/s for 4 s; any field may differ."""
    profile = {
        "schema_version": 1,
        "id": "test",
        "seed": 7,
        "object_count": 40,
        "namespace_count": 4,
        "steady_events_per_second": 50,
        "duration_seconds": 4,
        "bursts": [],
        "failures": [],
    }
    return Plan(json.dumps(profile | fields))


@contextmanager
def embedded(of: Plan | None = None, **options: Any) -> Iterator[ApiServer]:
    """A server on plain HTTP that ends with the block."""
    with ApiServer.start({"plan": of or plan(), "tls": False} | options) as server:
        yield server


@dataclass(frozen=True)
class Answer:
    """A whole response."""

    status: int
    headers: http.client.HTTPMessage
    body: bytes

    @property
    def json(self) -> Any:
        """The body, read."""
        return json.loads(self.body)


def ask(server: ApiServer, path: str, method: str = "GET", body: Any = None, **headers: str) -> Answer:
    """One request on a connection of its own. A body that is not bytes is sent as JSON."""
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=30)
    try:
        data = body if body is None or isinstance(body, bytes) else json.dumps(body).encode()
        names = {name.replace("_", "-"): value for name, value in headers.items()}
        connection.request(method, path, data, names)
        response = connection.getresponse()
        return Answer(response.status, response.headers, response.read())
    finally:
        connection.close()


class Watch:
    """An open WATCH of JSON lines."""

    def __init__(self, server: ApiServer, path: str) -> None:
        self._connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=30)
        self._connection.request("GET", path)
        self.response = self._connection.getresponse()

    def event(self) -> dict[str, Any] | None:
        """The next event; None at the end."""
        line = self.response.readline()
        event: dict[str, Any] | None = json.loads(line) if line else None
        return event

    def __enter__(self) -> Watch:
        return self

    def __exit__(self, *_exception: object) -> None:
        self._connection.close()
        self.response.close()
