"""Whether a server has what requests need: namespaces, service accounts, resources of groups that not every one has."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final
from urllib.parse import quote, urlencode

from perfq.kube.asking import Asking, document_of
from perfq.kube.endpoint import Endpoint

__all__ = ["Lacking", "lacking"]

#: Objects of one page, and what a page of them may come to.
_PAGE: Final = 250
_LARGEST: Final = 64 << 20


@dataclass
class Lacking:
    """What is not there, as it was named; and why some of it could not be told."""

    namespaces: list[str] = field(default_factory=list)
    service_accounts: list[str] = field(default_factory=list)
    resources: list[str] = field(default_factory=list)
    #: What was asked for → what the server said instead of telling.
    untold: dict[str, str] = field(default_factory=dict)


def lacking(
    endpoint: Endpoint,
    *,
    namespaces: Sequence[str],
    service_accounts: Iterable[Mapping[str, str]],
    resources: Iterable[Mapping[str, str]],
) -> Lacking:
    """Asks the server, past any proxy. TargetUnreachable (7) where it cannot be reached.

    `service_accounts`: {namespace, name}; `resources`: {resource, group, version}.
    """
    found = Lacking()
    with Asking(endpoint) as server:
        asked = _Asked(server, found)
        if namespaces:
            there = asked.listed("/api/v1/namespaces", "namespaces")
            found.namespaces = [] if there is None else [name for name in namespaces if ("", name) not in there]
        accounts = [(one["namespace"], one["name"]) for one in service_accounts]
        if accounts:
            there = asked.listed("/api/v1/serviceaccounts", "service accounts")
            found.service_accounts = [] if there is None else ["/".join(one) for one in accounts if one not in there]
        found.resources = [
            f"{one['resource']}.{one['group']}/{one['version']}"
            for one in resources
            if one["resource"] not in asked.resources_of(one["group"], one["version"], one["resource"])
        ]
    return found


@dataclass
class _Asked:
    server: Asking
    found: Lacking
    _groups: dict[str, frozenset[str] | None] = field(default_factory=dict)

    def listed(self, path: str, what: str) -> set[tuple[str, str]] | None:
        """(namespace, name) of all objects; None where the server does not tell."""
        there: set[tuple[str, str]] = set()
        token = ""
        while True:
            query = {"limit": str(_PAGE)} | ({"continue": token} if token else {})
            status, data = self.server.get(f"{path}?{urlencode(query)}", _LARGEST)
            page = document_of(data)
            if status != 200 or page is None:
                self.found.untold[what] = f"{status} on GET {path}"
                return None
            for one in page.get("items") or []:
                metadata = one.get("metadata") or {}
                there.add((metadata.get("namespace") or "", metadata.get("name") or ""))
            token = (page.get("metadata") or {}).get("continue") or ""
            if not token:
                return there

    def resources_of(self, group: str, version: str, wanted: str) -> frozenset[str]:
        """The resources of a group and version; the one that is wanted where the server does not tell."""
        path = f"/apis/{quote(group, safe='')}/{quote(version, safe='')}"
        if path not in self._groups:
            status, data = self.server.get(path, _LARGEST)
            page = document_of(data)
            known = None
            if status == 404:
                known = frozenset[str]()
            elif status == 200 and page is not None:
                known = frozenset(str(one.get("name")) for one in page.get("resources") or [])
            else:
                self.found.untold[f"resources of {group}/{version}"] = f"{status} on GET {path}"
            self._groups[path] = known
        found = self._groups[path]
        return frozenset({wanted}) if found is None else found
