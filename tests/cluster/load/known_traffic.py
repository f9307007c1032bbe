"""Traffic that is known request by request, for what is to be found again in an API server's audit log."""

from __future__ import annotations

import json
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

from tests.cluster.testbed.api import Answer, Api
from tests.cluster.testbed.bed import Bed
from tests.cluster.testbed.kubeconfig import CERTIFICATE

AGENT = "known-traffic/1"
#: Who they are that an import leaves out: the server itself, and whoever waits for it.
OTHERS = ["system:*", "admin-by-certificate"]
NAMESPACE = "/api/v1/namespaces/known"
CONFIG_MAPS = f"{NAMESPACE}/configmaps"
PODS = f"{NAMESPACE}/pods"
SECRETS = f"{NAMESPACE}/secrets"
DEPLOYMENTS = "/apis/apps/v1/namespaces/known/deployments"
WIDGETS = "/apis/known.perfq.dev/v1/namespaces/known/widgets"
CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
CONTAINERS = {"containers": [{"name": "a", "image": "known.invalid/a"}]}
#: In the body of each Secret.
CANARY = "canary-of-a-secret"

#: What a request is, as a trace names it: verb, path without its query.
What = tuple[str, str]


@dataclass
class Traffic:
    """What was asked, in its order, with the statuses of the answers."""

    api: Api
    #: Another user, whose requests are none of it.
    waiter: Api
    sent: list[tuple[What, int]] = field(default_factory=list)

    def ask(self, verb: str, path: str, body: Any = None, **headers: str) -> Answer:
        """One request."""
        methods = {"CREATE": "POST", "UPDATE": "PUT", "PATCH": "PATCH", "APPLY": "PATCH"}
        method = methods.get(verb, "DELETE" if verb.startswith("DELETE") else "GET")
        answer = self.api.ask(path, method, body, user_agent=AGENT, **headers)
        self.sent.append(((verb, path.partition("?")[0]), answer.status))
        return answer


def send_known_traffic(bed: Bed, objects: int = 40) -> Traffic:
    """Sends some 400 requests of every kind, one after another save for the watches."""
    traffic = Traffic(bed.api(), Api.of(bed.kubeconfig, CERTIFICATE))
    ask = traffic.ask
    assert ask("CREATE", "/api/v1/namespaces", {"metadata": {"name": "known"}}).status == 201
    for path in ["/version", "/api", "/apis", "/apis/apps/v1", "/openapi/v3", "/readyz?verbose=1"] * 4:
        ask("GET", path)
    with ThreadPoolExecutor() as watchers:
        for seconds in (1, 2, 3):
            query = f"watch=true&allowWatchBookmarks=true&timeoutSeconds={seconds}"
            watchers.submit(ask, "WATCH", f"{CONFIG_MAPS}?{query}")
        for number in range(objects):
            _config_map(traffic, f"c-{number}")
        _pods(traffic)
        _deployment(traffic)
        _widgets(traffic)
        for number in range(5):
            secret = {"metadata": {"name": f"s-{number}"}, "stringData": {"password": CANARY}}
            ask("CREATE", SECRETS, secret)
        ask("LIST", f"{CONFIG_MAPS}?limit=10&labelSelector=kept%3Dyes")
        ask("LIST", "/api/v1/pods?resourceVersion=0")
        ask("DELETECOLLECTION", f"{CONFIG_MAPS}?labelSelector=kept%3Dyes")
    return traffic


def _config_map(traffic: Traffic, name: str) -> None:
    path, ask = f"{CONFIG_MAPS}/{name}", traffic.ask
    body = {"metadata": {"name": name, "labels": {"kept": "yes"}}, "data": {"a": "<&>"}}
    ask("CREATE", CONFIG_MAPS, body)
    ask("CREATE", CONFIG_MAPS, body)  # 409
    ask("GET", path)
    ask("UPDATE", path, body | {"data": {"a": "b"}})
    ask("PATCH", path, {"data": {"c": "d"}}, content_type="application/merge-patch+json")
    operations = [{"op": "add", "path": "/data/e", "value": "f"}]
    ask("PATCH", path, operations, content_type="application/json-patch+json")
    applied = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": f"{name}-applied"}, "data": {"a": "b"}}
    query = "?fieldManager=known&force=true"
    ask("APPLY", f"{path}-applied{query}", applied, content_type="application/apply-patch+yaml")
    ask("DELETE", f"{path}-applied", {"kind": "DeleteOptions", "apiVersion": "v1", "propagationPolicy": "Background"})
    ask("GET", f"{path}-applied")  # 404


def _pods(traffic: Traffic) -> None:
    ask = traffic.ask
    for _ in range(5):
        created = ask("CREATE", PODS, {"metadata": {"generateName": "g-"}, "spec": CONTAINERS})
        path = f"{PODS}/{created.json['metadata']['name']}"
        ask("GET", path)
        status = {"status": {"phase": "Running"}}
        ask("PATCH", f"{path}/status", status, content_type="application/strategic-merge-patch+json")
        ask("CREATE", f"{path}/exec?command=ls")
        ask("GET", f"{path}/log")
        ask("DELETE", f"{path}?gracePeriodSeconds=0")


def _deployment(traffic: Traffic) -> None:
    ask, labels = traffic.ask, {"app": "known"}
    template = {"metadata": {"labels": labels}, "spec": CONTAINERS}
    spec = {"selector": {"matchLabels": labels}, "template": template}
    ask("CREATE", DEPLOYMENTS, {"metadata": {"name": "d"}, "spec": spec})
    ask("GET", f"{DEPLOYMENTS}/d/scale")
    scaled = {"spec": {"replicas": 2}}
    ask("PATCH", f"{DEPLOYMENTS}/d/scale", scaled, content_type="application/merge-patch+json")


def _widgets(traffic: Traffic) -> None:
    ask, group = traffic.ask, "known.perfq.dev"
    names = {"plural": "widgets", "singular": "widget", "kind": "Widget"}
    schema = {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}}
    version = {"name": "v1", "served": True, "storage": True, "schema": schema}
    spec = {"group": group, "scope": "Namespaced", "names": names, "versions": [version]}
    ask("CREATE", CRDS, {"metadata": {"name": f"widgets.{group}"}, "spec": spec})
    widget = {"apiVersion": f"{group}/v1", "kind": "Widget", "metadata": {"name": "w"}, "spec": {"a": 1}}
    # Not served at once. How often that has to be asked depends on the machine, so that it is no part of the traffic.
    while not traffic.waiter.answers(WIDGETS):
        time.sleep(0.2)
    ask("LIST", WIDGETS)
    ask("CREATE", WIDGETS, widget)
    ask("PATCH", f"{WIDGETS}/w", {"spec": {"a": 2}}, content_type="application/merge-patch+json")
    ask("GET", f"{WIDGETS}/w")


def logged(bed: Bed) -> int:
    """How many of its requests stand in the audit log to their end. Its last line may be just being written."""
    events = (json.loads(line) for line in bed.audit_log.read_text().rpartition("\n")[0].splitlines())
    return sum(event["stage"] == "ResponseComplete" and event.get("userAgent") == AGENT for event in events)
