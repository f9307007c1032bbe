"""What is served, as clients ask for it."""

from __future__ import annotations

from tests.cluster.differential.exchange import Request, get, post

AGGREGATED = "application/json;g=apidiscovery.k8s.io;v={};as=APIGroupDiscoveryList"

CONVERSATIONS = {
    "health and version": [get(path) for path in ("/healthz", "/livez", "/readyz", "/version")],
    "documents": [
        get(path)
        for path in (
            "/", "/api", "/apis", "/api/v1", "/apis/apps", "/apis/apps/v1", "/apis/batch", "/apis/batch/v1",
            "/apis/coordination.k8s.io/v1", "/apis/authorization.k8s.io/v1",
        )
    ],
    "documents that are only read": [post("/api/v1", {}), post("/version", {})],
    "what there is not": [
        get(path) for path in ("/nothing", "/apis/none", "/apis/none/v1", "/apis/apps/v9", "/api/v1/nothing",
                               "/apis/apps/v1/nothing")
    ],
    "aggregated": [
        Request(path, headers={"accept": AGGREGATED.format(version)})
        for path in ("/api", "/apis") for version in ("v2", "v2beta1")
    ],
}  # fmt: skip
