"""Requests to the API server, over urllib3. Called from threads; nothing here knows of the app."""

from __future__ import annotations

import contextlib
import socket
from collections.abc import Iterator, Mapping
from typing import Any, Protocol, cast
from urllib.parse import urlencode

import msgspec
import urllib3
from urllib3.connection import HTTPConnection

from perfq.errors import PerfqError

__all__ = ["ApiTransport", "Rejected", "Server", "Stream", "Transport", "Unreachable"]

_CONNECT_SECONDS = 10.0
_READ_SECONDS = 60.0
#: A peer that vanished is found by TCP, not by a read time-out that a quiet watch would meet too.
_KEEP_ALIVE = [
    (socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1),
    (socket.IPPROTO_TCP, socket.TCP_NODELAY, 1),
    *(
        (socket.IPPROTO_TCP, getattr(socket, name), value)
        for name, value in (("TCP_KEEPIDLE", 20), ("TCP_KEEPINTVL", 10), ("TCP_KEEPCNT", 3))
        if hasattr(socket, name)
    ),
]


class Unreachable(Exception):
    """No answer: refused, reset, timed out, not trusted. One line."""


class Rejected(Exception):
    """An answer that is not a success."""

    def __init__(self, status: int, message: str, retry_after: float = 0.0) -> None:
        super().__init__(f"{status} {message}")
        self.status = status
        self.message = message
        #: Seconds that the server asked to wait; 0 where it did not.
        self.retry_after = retry_after


class Server(Protocol):
    """What is needed of an endpoint (perfq.kube.Endpoint)."""

    @property
    def url(self) -> str:
        """Scheme, host, port and base path, without a slash at the end."""

    def pool(self, **options: object) -> urllib3.PoolManager:
        """A connection pool that trusts and authenticates as the kubeconfig says."""

    def headers(self) -> Mapping[str, str]:
        """Headers of a request: the credential."""

    def refresh(self) -> bool:
        """Gets a new credential after a 401; False where there is none to get."""


class Stream(Protocol):
    """A response that goes on."""

    def chunks(self) -> Iterator[bytes]:
        """What comes, as it comes."""

    def close(self) -> None:
        """Ends it; from any thread."""


class Transport(Protocol):
    """What the watch manager and the screens ask of the API server."""

    def get(self, path: str, query: Mapping[str, str] | None = None) -> bytes:
        """The whole body. Rejected or Unreachable."""

    def stream(self, path: str, query: Mapping[str, str]) -> Stream:
        """An opened stream. Rejected or Unreachable."""

    def refresh(self) -> bool:
        """A new credential after a 401."""


class _Status(msgspec.Struct):
    message: str = ""
    reason: str = ""


class _ResponseStream:
    def __init__(self, response: urllib3.HTTPResponse) -> None:
        self._response = response

    def chunks(self) -> Iterator[bytes]:
        try:
            if self._response.chunked:
                yield from self._response.read_chunked()
            else:
                while piece := self._response.read1():
                    yield piece
        except (urllib3.exceptions.HTTPError, OSError, ValueError, AttributeError) as error:
            raise Unreachable(_sentence(error)) from error
        finally:
            self._response.close()

    def close(self) -> None:
        connection = getattr(self._response, "connection", None)
        sock = connection.sock if isinstance(connection, HTTPConnection) else None
        with contextlib.suppress(OSError, AttributeError):
            if sock is not None:
                sock.shutdown(socket.SHUT_RDWR)


class ApiTransport:
    """One server, one pool of connections."""

    def __init__(self, server: Server, *, user_agent: str) -> None:
        self._server = server
        self._agent = user_agent
        self._pool = server.pool(
            num_pools=2,
            maxsize=8,
            retries=False,
            socket_options=HTTPConnection.default_socket_options + _KEEP_ALIVE,
        )

    def get(self, path: str, query: Mapping[str, str] | None = None) -> bytes:
        """The whole body of a GET."""
        response = self._request(path, query, preload=True)
        return response.data

    def stream(self, path: str, query: Mapping[str, str]) -> Stream:
        """A GET whose body goes on (watch, log)."""
        return _ResponseStream(self._request(path, query, preload=False))

    def refresh(self) -> bool:
        """A new credential after a 401."""
        return self._server.refresh()

    def _request(self, path: str, query: Mapping[str, str] | None, *, preload: bool) -> urllib3.HTTPResponse:
        url = f"{self._server.url}{path}" + (f"?{urlencode(query)}" if query else "")
        try:
            headers = {"Accept": "application/json", "User-Agent": self._agent, **self._server.headers()}
            response: Any = self._pool.request(
                "GET",
                url,
                headers=headers,
                preload_content=preload,
                redirect=False,
                timeout=urllib3.Timeout(connect=_CONNECT_SECONDS, read=_READ_SECONDS if preload else None),
            )
            if response.status < 300:
                return cast("urllib3.HTTPResponse", response)
            body = response.data
        except PerfqError as error:
            raise Unreachable(error.sentence) from error
        except (urllib3.exceptions.HTTPError, OSError) as error:
            raise Unreachable(_sentence(error)) from error
        raise Rejected(response.status, _message(response, body), _retry_after(response))


def _message(response: urllib3.BaseHTTPResponse, body: bytes) -> str:
    try:
        status = msgspec.json.decode(body, type=_Status)
        said = status.message or status.reason
    except msgspec.MsgspecError:
        said = ""
    return one_line(said) or response.reason or "no reason given"


def _retry_after(response: urllib3.BaseHTTPResponse) -> float:
    text = response.headers.get("Retry-After", "").strip()
    return float(text) if text.isascii() and text.isdigit() and len(text) < 9 else 0.0


def _sentence(error: BaseException) -> str:
    """The reason at the root of an error, in one line."""
    root: BaseException = error
    seen: set[int] = set()
    while id(root) not in seen:
        seen.add(id(root))
        inner = getattr(root, "reason", None)
        deeper = inner if isinstance(inner, BaseException) else root.__cause__ or root.__context__
        if deeper is None:
            break
        root = deeper
    if isinstance(root, ConnectionRefusedError):
        return "connection refused"
    if isinstance(root, ConnectionResetError):
        return "connection reset"
    if isinstance(root, TimeoutError | urllib3.exceptions.TimeoutError):
        return "no answer in time"
    text = getattr(root, "strerror", None) or str(root) or type(root).__name__
    return one_line(text)


def one_line(text: str, longest: int = 200) -> str:
    """Text of a foreign server made fit for one line of a screen."""
    line = " ".join(text.split())
    line = "".join(c if c.isprintable() else "�" for c in line)
    return line if len(line) <= longest else line[: longest - 1] + "…"
