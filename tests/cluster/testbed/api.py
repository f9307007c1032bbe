"""Plain requests to an API server, as a kubeconfig says. What perfq's own code does is measured against this."""

from __future__ import annotations

import base64
import http.client
import json
import os
import ssl
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit


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


@dataclass(frozen=True)
class Api:
    """One server and one way to prove oneself to it."""

    host: str
    port: int
    tls: ssl.SSLContext
    token: str | None = None

    @staticmethod
    def of(kubeconfig: Path, context: str) -> Api:
        """From a kubeconfig as the test bed writes it: JSON, nothing kept in other files."""
        document = json.loads(kubeconfig.read_text())

        def named(kind: str, name: str) -> Any:
            return next(entry[kind] for entry in document[f"{kind}s"] if entry["name"] == name)

        chosen = named("context", context)
        cluster, user = named("cluster", chosen["cluster"]), named("user", chosen["user"])
        tls = ssl.create_default_context(cadata=base64.b64decode(cluster["certificate-authority-data"]).decode())
        if "client-certificate-data" in user:
            _load_client_certificate(tls, user)
        url = urlsplit(cluster["server"])
        assert url.hostname is not None
        assert url.port is not None
        return Api(url.hostname, url.port, tls, user.get("token"))

    def connect(self, timeout_s: float = 30) -> http.client.HTTPSConnection:
        """A new connection; the caller closes it."""
        return http.client.HTTPSConnection(self.host, self.port, timeout=timeout_s, context=self.tls)

    def headers(self, **more: str) -> dict[str, str]:
        """The token, and `content_type="…"` and the like."""
        own = {"Authorization": f"Bearer {self.token}"} if self.token else {}
        return own | {name.replace("_", "-"): value for name, value in more.items()}

    def ask(self, path: str, method: str = "GET", body: Any = None, **headers: str) -> Answer:
        """One request on a connection of its own. A body that is not bytes is sent as JSON."""
        connection = self.connect()
        try:
            data = body if body is None or isinstance(body, bytes) else json.dumps(body).encode()
            connection.request(method, path, data, self.headers(**headers))
            response = connection.getresponse()
            return Answer(response.status, response.headers, response.read())
        finally:
            connection.close()

    def answers(self, path: str) -> bool:
        """True where the server says 200."""
        try:
            return self.ask(path).status == 200
        except (OSError, http.client.HTTPException):
            return False


def _load_client_certificate(tls: ssl.SSLContext, user: dict[str, str]) -> None:
    """The ssl module takes it from a file only."""
    handle, name = tempfile.mkstemp()
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(base64.b64decode(user["client-certificate-data"]))
            file.write(base64.b64decode(user["client-key-data"]))
        tls.load_cert_chain(name)
    finally:
        Path(name).unlink()
