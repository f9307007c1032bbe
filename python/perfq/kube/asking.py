"""Questions to an API server: GETs, past any proxy, each bounded in time and size."""

from __future__ import annotations

import http.client
import json
import socket
import ssl
from types import TracebackType
from typing import Any, Final, Self
from urllib.parse import urlsplit

from perfq.errors import TargetUnreachable
from perfq.kube.endpoint import Endpoint

_LEVELS: Final = "/apis/flowcontrol.apiserver.k8s.io/v1/prioritylevelconfigurations"
_CONNECT_S: Final = 5
_READ_S: Final = 10


class Asking:
    """One connection to an API server, opened with the first question; a context manager that closes it.

    By the standard library's client: every run begins with two questions, and loading urllib3 costs more than they do.
    """

    def __init__(self, endpoint: Endpoint) -> None:
        self._endpoint = endpoint
        parts = urlsplit(endpoint.url)
        self._base = parts.path
        place = parts.hostname or "", parts.port
        self._connection: http.client.HTTPConnection = (
            _Tls(place, endpoint.ssl_context(), endpoint.tls_server_name)
            if parts.scheme == "https"
            else _Plain(*place, timeout=_CONNECT_S)
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._connection.close()

    def get(self, path: str, largest: int) -> tuple[int, bytes]:
        """Status and body, of which at most `largest` bytes are read. TargetUnreachable (7) where nothing comes."""
        try:
            return self._get(path, largest)
        except (OSError, http.client.HTTPException) as error:
            endpoint = self._endpoint
            raise TargetUnreachable(
                f"{endpoint.host}: {_reason(error)}; is the server of context {endpoint.context} up?"
            ) from error

    def _get(self, path: str, largest: int) -> tuple[int, bytes]:
        used_before = self._connection.sock is not None
        try:
            answer = self._answer(path)
        except (ConnectionError, http.client.BadStatusLine):
            # A server may close a connection between two questions.
            self._connection.close()
            if not used_before:
                raise
            answer = self._answer(path)
        data = answer.read(largest)
        if not answer.isclosed():
            # The rest of it would be taken for the next answer.
            self._connection.close()
        return answer.status, data

    def _answer(self, path: str) -> http.client.HTTPResponse:
        self._connection.request("GET", self._base + path, headers=dict(self._endpoint.headers()))
        return self._connection.getresponse()


class _Plain(http.client.HTTPConnection):
    """With a time-out of its own for reading."""

    def connect(self) -> None:
        super().connect()
        self.sock.settimeout(_READ_S)


class _Tls(http.client.HTTPConnection):
    """The same over TLS, with the name that the kubeconfig says the server's certificate has."""

    default_port = 443

    def __init__(self, place: tuple[str, int | None], context: ssl.SSLContext, name: str | None) -> None:
        super().__init__(*place, timeout=_CONNECT_S)
        self._context = context
        self._name = name or place[0]

    def connect(self) -> None:
        super().connect()
        plain: socket.socket = self.sock
        self.sock = self._context.wrap_socket(plain, server_hostname=self._name)
        self.sock.settimeout(_READ_S)


def read_metrics(endpoint: Endpoint, largest: int) -> tuple[int, bytes]:
    """Status and text of GET /metrics. TargetUnreachable (7) where nothing comes."""
    with Asking(endpoint) as server:
        return server.get("/metrics", largest)


def priority_levels(endpoint: Endpoint, largest: int) -> dict[str, str]:
    """UID → name of each priority level; none where the server does not tell. TargetUnreachable (7) as `get`."""
    with Asking(endpoint) as server:
        status, data = server.get(_LEVELS, largest)
    document = document_of(data) if status == 200 else None
    found = ((document or {}).get("items")) or []
    named = [one.get("metadata") or {} for one in found if isinstance(one, dict)]
    return {one["uid"]: one["name"] for one in named if one.get("uid") and one.get("name")}


def document_of(data: bytes) -> dict[str, Any] | None:
    """The JSON object that a body is; None where it is none."""
    try:
        document = json.loads(data)
    except ValueError:
        return None
    return document if isinstance(document, dict) else None


def _reason(error: Exception) -> str:
    text = str(error).rpartition(": ")[2].strip()
    return text or type(error).__name__
