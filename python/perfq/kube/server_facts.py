"""What an API server says of itself: its version, the cluster's id, and whether it is one of ours."""

from __future__ import annotations

import socket
from collections.abc import Mapping
from dataclasses import dataclass
from ipaddress import ip_address
from typing import Any, Final
from urllib.parse import urlsplit

from perfq.errors import TargetUnreachable
from perfq.kube.asking import Asking, document_of
from perfq.kube.endpoint import Endpoint

__all__ = ["ServerFacts", "only_loopback", "server_facts"]

#: What the embedded server adds to its version (SemVer's build metadata).
_OWN: Final = "+perfq"
#: On the namespace kube-system of a test bed, so that it can be told whatever tunnel leads to it.
_TEST_BED: Final = "perfq.dev/testbed"
#: An answer about one object or a version is nowhere near this long.
_LARGEST: Final = 1 << 20


@dataclass(frozen=True)
class ServerFacts:
    """None: the server does not say."""

    version: str | None
    #: The uid of the namespace kube-system, which no other cluster has.
    cluster_id: str | None
    #: The embedded server, or a test bed: nothing that anyone else depends on.
    is_ours: bool


def only_loopback(url: str) -> bool:
    """Whether the URL's host is an address of 127.0.0.0/8 or ::1, or a name that resolves to such addresses alone."""
    host = urlsplit(url).hostname or ""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        pass
    try:
        found = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        return False
    addresses = {str(one[4][0]) for one in found}
    return bool(addresses) and all(ip_address(address.partition("%")[0]).is_loopback for address in addresses)


def server_facts(endpoint: Endpoint) -> ServerFacts:
    """Asks the server, past any proxy. TargetUnreachable (7) where it cannot be reached or does not let us in."""
    with Asking(endpoint) as server:
        version = _get(server, endpoint, "/version").get("gitVersion")
        system = _get(server, endpoint, "/api/v1/namespaces/kube-system").get("metadata") or {}
    labels = system.get("labels") or {}
    return ServerFacts(
        version=version,
        cluster_id=system.get("uid"),
        is_ours=str(version).endswith(_OWN) or labels.get(_TEST_BED) == "true",
    )


def _get(server: Asking, endpoint: Endpoint, path: str) -> Mapping[str, Any]:
    """The answer's document; an empty one where the server has no such object."""
    status, data = server.get(path, _LARGEST)
    if status in (401, 403):
        word = "does not know us (401)" if status == 401 else "does not let us in (403)"
        raise TargetUnreachable(f"{endpoint.host}: {word} on GET {path}; check the user of context {endpoint.context}")
    if status == 404:
        return {}
    document = document_of(data)
    if status != 200 or document is None:
        raise TargetUnreachable(f"{endpoint.host}: GET {path} was answered with {status}, expected a JSON object")
    return document
