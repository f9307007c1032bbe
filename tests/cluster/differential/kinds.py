"""One object of each kind: created, read as itself and as a table, patched, its status, deleted."""

from __future__ import annotations

from typing import Any

from tests.cluster.differential.exchange import MERGE, Request, delete, get, patch, post, shaped

TEMPLATE = {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "c", "image": "i"}]}}
JOB = {"template": {"spec": {"restartPolicy": "Never", "containers": [{"name": "c", "image": "i"}]}}}
SELECTED = {"selector": {"matchLabels": {"a": "b"}}, "template": TEMPLATE}
PORTS = {"addresses": [{"ip": "10.0.0.1"}], "ports": [{"port": 80}]}
INVOLVED = {"kind": "Pod", "name": "p", "namespace": "{namespace}"}
SEEN = "2026-01-01T00:00:00Z"

OBJECTS: dict[tuple[str, str], dict[str, Any]] = {
    ("apps/v1", "deployments"): {"spec": {"replicas": 2, **SELECTED}},
    ("apps/v1", "replicasets"): {"spec": SELECTED},
    ("apps/v1", "statefulsets"): {"spec": {"serviceName": "s", **SELECTED}},
    ("apps/v1", "daemonsets"): {"spec": SELECTED},
    ("batch/v1", "jobs"): {"spec": JOB},
    ("batch/v1", "cronjobs"): {"spec": {"schedule": "* * * * *", "jobTemplate": {"spec": JOB}}},
    ("coordination.k8s.io/v1", "leases"): {
        "spec": {"holderIdentity": "me", "renewTime": "2026-01-01T00:00:00.123456Z"},
    },
    ("v1", "configmaps"): {"data": {"a": "b"}},
    ("v1", "endpoints"): {"subsets": [PORTS]},
    ("v1", "events"): {
        "involvedObject": INVOLVED, "reason": "R", "message": "m", "type": "Normal", "firstTimestamp": SEEN,
        "lastTimestamp": SEEN, "count": 1,
    },
    ("v1", "resourcequotas"): {"spec": {"hard": {"configmaps": "10", "cpu": "1000m"}}},
    ("v1", "secrets"): {"stringData": {"a": "b"}},
    ("v1", "serviceaccounts"): {},
    ("v1", "services"): {"spec": {"selector": {"a": "b"}, "ports": [{"port": 80}]}},
}  # fmt: skip


def life(api_version: str, plural: str, fields: dict[str, Any]) -> list[Request]:
    root = "/api/v1" if api_version == "v1" else f"/apis/{api_version}"
    path = f"{root}/namespaces/{{namespace}}/{plural}"
    return [
        post(path, {"metadata": {"name": "x"}, **fields}),
        post(path, {"metadata": {"name": "x"}, **fields}),
        get(f"{path}/x"),
        get(path, fieldSelector="metadata.name=x"),
        shaped("Table", path, fieldSelector="metadata.name=x"),
        shaped("PartialObjectMetadataList", path, fieldSelector="metadata.name=x"),
        patch(MERGE, f"{path}/x", {"metadata": {"labels": {"l": "1"}}}),
        patch(MERGE, f"{path}/x/status", {"metadata": {"labels": {"m": "1"}}, "status": {}}),
        delete(f"{path}/x", {"propagationPolicy": "Background"}),
        delete(f"{path}/x"),
    ]


CONVERSATIONS = {plural: life(api_version, plural, fields) for (api_version, plural), fields in OBJECTS.items()}
