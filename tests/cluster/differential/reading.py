"""GET and LIST: pages, versions, selectors, shapes; what cannot be asked so."""

from __future__ import annotations

from tests.cluster.differential.exchange import Request, get, shaped

PODS = "/api/v1/namespaces/bench-0001/pods"
NODES = "/api/v1/nodes"
TABLE, ONE, LIST = "Table", "PartialObjectMetadata", "PartialObjectMetadataList"
AHEAD = "999999999999999999"

LABELS = (
    "app", "!app", "app=bench", "app==bench", "app!=bench", "app in (bench,other)", "app notin (bench)",
    "app in (bench", "app in ()", "app=", "=x", "app=a b", "a/b/c=d", "app,,b", " app = bench ", "-x=1",
    "perfq.dev/shard in (shard-01,shard-05),app", "app>5", "app>x", "x" * 70, "app=" + "x" * 64,
    "perfq.dev/shard=shard-01",
)  # fmt: skip
POD_FIELDS = (
    "metadata.name=pod-000001", "metadata.name!=pod-000001", "metadata.name==pod-000001", "spec.nodeName=node-01",
    "status.phase=Running", "status.phase!=Running", "metadata.namespace=bench-0001", "metadata.namespace=bench-0002",
    "spec.restartPolicy=Always", "spec.schedulerName=default-scheduler", "status.podIP=10.0.0.1", "status.podIPs=",
    "status.podIPs=10.0.0.2", "status.nominatedNodeName=", "spec.serviceAccountName=default", "spec.hostNetwork=false",
    "metadata.labels.app=bench", "spec.foo=1", "abc", "=", "=x", "a=b=c", "a=\\x", "a=x\\", ",",
    "metadata.name=a,metadata.name=b", "metadata.name=pod-000001,status.phase=Running", "status.phase in (Running)",
    "metadata.name=x\\=y",
)  # fmt: skip
OTHER_FIELDS = {
    "/api/v1/nodes": ("spec.unschedulable=false", "metadata.name=node-01", "spec.x=1"),
    "/api/v1/namespaces": ("metadata.name=bench-0001", "status.phase=Active,metadata.name=bench-0002", "name=default"),
    "/api/v1/events": (
        "involvedObject.name=x", "reason=Killing", "type=Normal", "source=kubelet", "reportingComponent=x", "x=y",
    ),
    "/api/v1/namespaces/bench-0001/configmaps": ("metadata.name=x", "data.x=y"),
    "/api/v1/secrets": ("type=Opaque", "x=y"),
    "/api/v1/serviceaccounts": ("metadata.name=x", "type=Opaque"),
    "/api/v1/namespaces/bench-0001/services": ("spec.type=ClusterIP", "spec.clusterIP=None", "spec.x=1"),
    "/apis/batch/v1/jobs": ("metadata.name=x", "status.successful=1", "x=y"),
    "/apis/apps/v1/replicasets": ("status.replicas=1",),
    "/apis/apps/v1/deployments": ("metadata.name=x", "status.replicas=1"),
}  # fmt: skip


def accepting(accept: str) -> Request:
    return Request(f"{PODS}?limit=1", headers={"accept": accept})


CONVERSATIONS = {
    "objects": [
        get(path)
        for path in ("/api/v1/pods", PODS, f"{PODS}/pod-000001", f"{PODS}/none", NODES, f"{NODES}/node-00",
                     "/api/v1/namespaces/none/pods", f"{PODS}/pod-000001/status", f"{PODS}/none/status",
                     f"{NODES}/node-00/status", "/api/v1/namespaces/bench-0001", "/api/v1/namespaces/bench-0001/status",
                     f"{PODS}/", "/api/v1/namespaces/bench-0001/")
    ],
    "tables": [
        shaped(TABLE, PODS),
        shaped(TABLE, PODS, limit=3),
        shaped(TABLE, PODS, includeObject="None"),
        shaped(TABLE, PODS, includeObject="Object"),
        shaped(TABLE, PODS, includeObject="Rubbish"),
        shaped(TABLE, f"{PODS}/pod-000001"),
        shaped(TABLE, f"{PODS}/none"),
        shaped(TABLE, NODES),
        shaped(TABLE, "/api/v1/namespaces/bench-0001"),
        shaped(TABLE, "/api/v1/namespaces/bench-0003/configmaps"),
        accepting("application/json;as=Table;v=v1beta1;g=meta.k8s.io"),
        accepting("application/json;as=Table;v=v9;g=meta.k8s.io"),
        accepting("application/json;as=Table;v=v9;g=meta.k8s.io,application/json"),
        accepting("application/json;as=Chair;v=v1;g=meta.k8s.io"),
    ],
    "metadata alone": [
        shaped(LIST, PODS),
        shaped(LIST, PODS, limit=2),
        shaped(ONE, f"{PODS}/pod-000001"),
        shaped(ONE, PODS),
        shaped(LIST, f"{PODS}/pod-000001"),
        shaped(ONE, f"{PODS}/none"),
    ],
    "representations": [
        accepting(accept)
        for accept in ("*/*", "application/*", "application/json;pretty=1", "application/json; charset=utf-8",
                       "application/yaml", "application/vnd.kubernetes.protobuf", "text/html", "rubbish",
                       "application/vnd.kubernetes.protobuf,application/json", "application/cbor,application/json")
    ] + [get(PODS, limit=1, pretty="true"), get(PODS, limit=1, fieldManager="x"), get(PODS, limit=1, unknown="x")],
    "pages": [
        get(PODS, limit=3),
        get(PODS, limit=3, **{"continue": "{token}"}),
        get(PODS, limit=3, **{"continue": "{token}"}),
        get(PODS, **{"continue": "{token}"}),
        *(get(PODS, limit=limit) for limit in ("0", "-1", "abc", "1.5", "99999999999999999999", "9", "10", "100")),
        get(PODS, limit=2, resourceVersion=0),
        get(PODS, limit=5, labelSelector="app=bench"),
        get(PODS, limit=5, labelSelector="app=bench", **{"continue": "{token}"}),
        get(PODS, limit=5, fieldSelector="status.phase=Running"),
        get(PODS, limit=1, labelSelector="none=1"),
        get(PODS, limit=1, fieldSelector="metadata.name=pod-000001"),
        get("/api/v1/pods", limit=7),
        get("/api/v1/pods", limit=40),
        get(NODES, limit=4),
        get(NODES, limit=5),
    ],
    "tokens that do not fit": [
        get(PODS, limit=3, **{"continue": "abc"}),
        get(PODS, limit=3),
        get(PODS, limit=3, resourceVersion=1, **{"continue": "{token}"}),
        get(PODS, limit=3, resourceVersionMatch="Exact", **{"continue": "{token}"}),
        get(NODES, limit=3, **{"continue": "{token}"}),
    ],
    "versions": [
        get(PODS),
        get(PODS, limit=1, resourceVersion=0),
        get(PODS, limit=1, resourceVersion="{version}"),
        get(PODS, limit=1, resourceVersion="{version}", resourceVersionMatch="Exact"),
        get(PODS, limit=1, resourceVersion="{version}", resourceVersionMatch="NotOlderThan"),
        get(PODS, limit=1, resourceVersion=0, resourceVersionMatch="NotOlderThan"),
        get(PODS, resourceVersionMatch="Exact"),
        get(PODS, resourceVersionMatch="NotOlderThan"),
        get(PODS, resourceVersion=0, resourceVersionMatch="Exact"),
        get(PODS, resourceVersion="{version}", resourceVersionMatch="Rubbish"),
        *(get(PODS, resourceVersion=version) for version in ("abc", "-1", "9" * 24, AHEAD)),
        get(PODS, resourceVersion=1, resourceVersionMatch="Exact"),
        get(PODS, sendInitialEvents="true"),
        get(PODS, timeoutSeconds="abc"),
        *(get(f"{PODS}/pod-000001", resourceVersion=version) for version in ("0", "abc", AHEAD)),
    ],
    "label selectors": [get(PODS, limit=2, labelSelector=selector) for selector in LABELS],
    "field selectors": [get(PODS, limit=2, fieldSelector=selector) for selector in POD_FIELDS]
    + [get(path, fieldSelector=selector) for path, selectors in OTHER_FIELDS.items() for selector in selectors],
    "methods": [
        Request(PODS, "PUT", {}),
        Request(PODS, "PATCH", {}),
        Request(PODS, "OPTIONS"),
        Request(PODS, "FOO"),
        Request("/api/v1/pods", "POST", {}),
        Request("/api/v1/pods", "DELETE"),
        Request("/api/v1/namespaces", "DELETE"),
        Request(f"{PODS}/pod-000001", "POST", {}),
        Request(f"{PODS}/pod-000001/status", "POST", {}),
        Request(f"{PODS}/pod-000001/status", "DELETE"),
        Request(f"{PODS}/pod-000001/log", "PUT", {}),
        Request(f"{PODS}/pod-000001/nothing"),
        Request(f"{PODS}/pod-000001/nothing", "PATCH", {}),
        Request("/api/v1/namespaces/bench-0001/configmaps/x/status", "PUT", {}),
        Request(f"{PODS}/pod-000001/exec", "POST"),
        Request(f"{PODS}/pod-000001/eviction", "POST", {}),
        Request("/apis/apps/v1/namespaces/bench-0001/deployments/none/scale"),
    ],
    "logs": [
        get(f"{PODS}/none/log"),
        get(f"{PODS}/pod-000001/log", container="none"),
        get(f"{PODS}/pod-000001/log", tailLines="abc"),
        get(f"{PODS}/pod-000001/log", tailLines="-1"),
        get(f"{PODS}/pod-000001/log", limitBytes=0),
        get(f"{PODS}/pod-000001/log", sinceSeconds=0),
    ],
}  # fmt: skip
