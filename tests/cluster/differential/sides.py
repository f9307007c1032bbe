"""The two servers, with the same objects in both: each was sent the same requests."""

from __future__ import annotations

import re
import ssl
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import Any

from tests.cluster.differential.exchange import Request, comparable, of_object, send
from tests.cluster.testbed.api import Api
from tests.cluster.testbed.bed import running
from tests.contract.server.embedded import embedded, plan

#: Of the plan, whose Pods are the content.
NAMESPACES = ("bench-0000", "bench-0001", "bench-0002", "bench-0003")


@dataclass(frozen=True)
class Exchanged:
    """One request with both answers, comparable."""

    request: Request
    real: dict[str, Any]
    embedded: dict[str, Any]


@dataclass(frozen=True)
class Sides:
    """A real kube-apiserver and the embedded server."""

    real: Api
    embedded: Api

    def talk(self, name: str, requests: list[Request]) -> list[Exchanged]:
        """Sends the requests, in order, to both, in a new namespace that has the same name there."""
        namespace = "t-" + re.sub("[^a-z]+", "-", name.lower())
        # Neither knows of the other, and each is asked in the order of the conversation.
        with ThreadPoolExecutor(2) as both:
            answers = both.map(lambda api: _answers(api, namespace, requests), (self.real, self.embedded))
            return [Exchanged(*whole) for whole in zip(requests, *answers, strict=True)]


def _answers(api: Api, namespace: str, requests: list[Request]) -> list[dict[str, Any]]:
    """What one of the two says."""
    api.ask("/api/v1/namespaces", "POST", {"metadata": {"name": namespace}})
    last = {"namespace": namespace}
    got = []
    for together in _in_turn(requests):
        with ThreadPoolExecutor(len(together)) as asked:
            answers = list(asked.map(partial(send, api, last=last), together))
        for answer in answers:
            last |= of_object(answer)
            last.setdefault("first", last.get("version", ""))
            got.append(comparable(answer))
    return got


def _in_turn(requests: list[Request]) -> list[list[Request]]:
    """One after another, but for reads that last: those that follow on one are sent at once, as nothing changes in
    that time. The first is by itself, so that the server's cache holds by then what was written before."""
    turns: list[list[Request]] = []
    for lasting, group in groupby(requests, lambda request: request.lasts):
        first, *others = group
        turns.append([first])
        turns += [others] if lasting and others else [[other] for other in others]
    return turns


@contextmanager
def sides(folder: Path) -> Iterator[Sides]:
    """Both servers as long as the block, with the 40 Pods and 5 nodes of a plan."""
    with running(folder) as bed, embedded(plan(), tls=True, start="never") as server:
        assert server.ca_pem is not None
        tls = ssl.create_default_context(cadata=server.ca_pem)
        both = Sides(bed.api(), Api("127.0.0.1", server.port, tls, server.token))
        _load(both)
        yield both


def _load(both: Sides) -> None:
    """The plan's objects, taken from the embedded server and sent to both as a client would."""
    objects = {name: both.embedded.ask(f"/api/v1/{name}").json["items"] for name in ("nodes", "pods")}
    both.embedded.ask("/api/v1/nodes", "DELETE")
    for namespace in NAMESPACES:
        both.embedded.ask(f"/api/v1/namespaces/{namespace}", "DELETE")
        for api in (both.real, both.embedded):
            api.ask("/api/v1/namespaces", "POST", {"metadata": {"name": namespace}})
    for kind, items in objects.items():
        for item in items:
            namespace = item["metadata"].get("namespace")
            path = f"/api/v1/namespaces/{namespace}/{kind}" if namespace else f"/api/v1/{kind}"
            status = item.pop("status")
            for given in ("uid", "resourceVersion", "creationTimestamp", "managedFields", "generation"):
                item["metadata"].pop(given, None)
            for api in (both.real, both.embedded):
                created = api.ask(path, "POST", item)
                assert created.status == 201, created.body
                full = created.json | {"status": status}
                put = api.ask(f"{path}/{item['metadata']['name']}/status", "PUT", full)
                assert put.status == 200, put.body
