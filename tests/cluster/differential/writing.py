"""Create, update, the four patches, delete: answers and refusals."""

from __future__ import annotations

from typing import Any

from tests.cluster.differential.exchange import (
    APPLY,
    JSON_PATCH,
    MERGE,
    STRATEGIC,
    Request,
    delete,
    get,
    patch,
    post,
    put,
)  # fmt: skip

MAPS = "/api/v1/namespaces/{namespace}/configmaps"
PODS = "/api/v1/namespaces/{namespace}/pods"
OTHER_UID = "0d3f1e0a-0000-4000-8000-000000000000"


def config(name: str, **fields: Any) -> dict[str, Any]:
    return {"metadata": {"name": name}, **fields}


def applied(name: str, **fields: Any) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, **fields}


def pod(name: str, **spec: Any) -> dict[str, Any]:
    return {"metadata": {"name": name}, "spec": {"containers": [{"name": "a", "image": "x:1"}], **spec}}


def resources(**resources: Any) -> dict[str, Any]:
    return {"name": "a", "image": "x", "resources": resources}


QUANTITIES = (
    "0.5", "1", "1000m", "1500m", ".5", "1e3", "15e2", "1k", "0.1k", "1500", "1000000", "2M", "1Ki", "1024Ki",
    "1536Ki", "1.5Gi", "0.5Mi", "0.5Ki", "1025", "0",
)  # fmt: skip

CONVERSATIONS = {
    "create": [
        post(MAPS, config("a", data={"k": "v"})),
        post(MAPS, config("a", data={"k": "v"})),
        get(f"{MAPS}/a"),
        post(MAPS, config("b", data={"k": "v"}), fieldManager="me"),
        post(MAPS, config("c", data={"k": "v"}), pretty="true"),
        post(MAPS, {"metadata": {"generateName": "g-"}, "immutable": True}),
        post(MAPS, config("d"), dryRun="All"),
        get(f"{MAPS}/d"),
        post("/api/v1/namespaces/absent/configmaps", config("a")),
        Request(MAPS, "POST", config("e"), {"content_type": "application/json; charset=utf-8"}),
    ],
    "create with fields that there are not": [
        post(MAPS, config("a", dat={"k": "1"})),
        post(MAPS, config("b", dat={"k": "1"}), fieldValidation="Strict"),
        post(MAPS, config("c", dat={"k": "1"}), fieldValidation="Ignore"),
        post(MAPS, b'{"metadata":{"name":"d"},"data":{"a":"1","a":"2"}}'),
    ],
    "create with options that there are not": [
        post(MAPS, config("a"), fieldValidation="Rubbish"),
        post(MAPS, config("a"), dryRun="Rubbish"),
        post(MAPS, config("a"), fieldManager="x" * 200),
    ],
    "bodies that cannot be read": [
        *(post(MAPS, body) for body in (b"", b"{", b"[]", b"null")),
        post(MAPS, config("a", data={"k": 1})),
        post(MAPS, config("a", binaryData={"k": "!!"})),
        post(MAPS, {"kind": "Pod", "apiVersion": "v1", **config("a")}),
        post(MAPS, {"kind": "ConfigMap", "apiVersion": "v2", **config("a")}),
        Request(MAPS, "POST", b"x", {"content_type": "text/plain"}),
    ],
    "objects that break rules": [
        post(MAPS, {}),
        post(MAPS, config("A_b")),
        post(MAPS, {"metadata": {"name": "a", "namespace": "other"}}),
        post(MAPS, {"metadata": {"name": "a", "resourceVersion": "5"}}),
        post(MAPS, {"metadata": {"name": "a", "labels": {"a b": "c"}}}),
        post(MAPS, {"metadata": {"name": "a", "labels": {"a": "c d"}}}),
        post(MAPS, {"metadata": {"name": "a", "annotations": {"a b": "c"}}}),
        post(MAPS, {"metadata": {"name": "a", "finalizers": ["x"]}}),
        post(MAPS, {"metadata": {"name": "a", "ownerReferences": [{"kind": "x"}]}}),
        post(MAPS, config("a", data={"a b": "x"})),
    ],
    "Pods": [
        post(PODS, pod("p")),
        post(PODS, pod("q", containers=[resources(requests={"cpu": "0.5"}, limits={"cpu": "1", "memory": "1Gi"})])),
        post(PODS, pod("r", nodeName="node-00", containers=[resources(limits={"cpu": "1", "memory": "1Gi"})])),
        post(PODS, pod("s", initContainers=[{"name": "i", "image": "y"}], hostNetwork=True)),
        post(PODS, {**pod("t"), "status": {"phase": "Running"}}),
        get(PODS),
    ],
    "Pods that break rules": [
        post(PODS, {"metadata": {"name": "q"}}),
        post(PODS, pod("q", containers=[])),
        post(PODS, pod("q", restartPolicy="Sometimes")),
        post(PODS, pod("q", containers=[{"name": "a"}])),
        post(PODS, pod("q", containers=[{"image": "a"}])),
        post(PODS, pod("q", containers=[{"name": "a", "image": "x"}, {"name": "a", "image": "x"}])),
        post(PODS, pod("q", containers=[resources(requests={"cpu": "abc"})])),
    ],
    "a template that is not selected": [
        post("/apis/apps/v1/namespaces/{namespace}/deployments",
             {"metadata": {"name": "d"}, "spec": {"selector": {"matchLabels": {"a": "b"}}, "template": {
                 "metadata": {"labels": {"a": "c"}}, "spec": {"containers": [{"name": "a", "image": "x"}]}}}}),
    ],
    "quantities": [
        post(PODS, pod(f"q-{i}", containers=[resources(requests={"cpu": quantity, "example.com/x": "2"},
                                                       limits={"example.com/x": "2"})]))
        for i, quantity in enumerate(QUANTITIES)
    ],
    "update": [
        post(MAPS, config("u", data={"k": "v"})),
        put(f"{MAPS}/u", config("u", data={"k": "w"})),
        put(f"{MAPS}/u", {"metadata": {"name": "u", "resourceVersion": "{version}"}, "data": {"k": "x"}}),
        put(f"{MAPS}/u", config("u", data={"k": "x"})),
        put(f"{MAPS}/u", config("u", data={"k": "z"}), dryRun="All"),
        get(f"{MAPS}/u"),
        put(f"{MAPS}/u", {"metadata": {"name": "u", "resourceVersion": "1"}, "data": {"k": "y"}}),
        put(f"{MAPS}/u", {"metadata": {"name": "u", "resourceVersion": "abc"}, "data": {"k": "y"}}),
        put(f"{MAPS}/u", {"metadata": {"name": "u", "uid": OTHER_UID}, "data": {"k": "y"}}),
        put(f"{MAPS}/u", config("v")),
        put(f"{MAPS}/u", {"data": {"k": "y"}}),
        put(f"{MAPS}/u", {"metadata": {"name": "u", "namespace": "zzz"}}),
        put(f"{MAPS}/absent", config("absent")),
        post(MAPS, config("i", immutable=True, data={"a": "b"})),
        put(f"{MAPS}/i", config("i", immutable=True, data={"a": "c"})),
        put(f"{MAPS}/i", config("i", data={"a": "b"})),
        post(PODS, pod("p")),
        put(f"{PODS}/p", pod("p", hostNetwork=True)),
        put(f"{PODS}/p", pod("p", containers=[{"name": "a", "image": "x:2"}])),
        put("/api/v1/namespaces/{namespace}", {"metadata": {"name": "{namespace}", "labels": {"x": "y"}}}),
    ],
    "JSON Patch": [
        post(MAPS, config("j", data={"k": "v", "l": "m"})),
        patch(JSON_PATCH, f"{MAPS}/j", [{"op": "replace", "path": "/data/k", "value": "w"}]),
        patch(JSON_PATCH, f"{MAPS}/j", [{"op": "test", "path": "/data/k", "value": "no"}]),
        patch(JSON_PATCH, f"{MAPS}/j", [{"op": "remove", "path": "/data/none"}]),
        patch(JSON_PATCH, f"{MAPS}/j", [{"op": "rubbish", "path": "/data/none"}]),
        patch(JSON_PATCH, f"{MAPS}/j", []),
        patch(JSON_PATCH, f"{MAPS}/j", {"op": "add"}),
        patch(JSON_PATCH, f"{MAPS}/j", b"{"),
        patch(JSON_PATCH, f"{MAPS}/j", [{"op": "add", "path": "/data/n", "value": 1}]),
        patch(JSON_PATCH, f"{MAPS}/j", [{"op": "replace", "path": "/metadata/name", "value": "other"}]),
        patch(JSON_PATCH, f"{MAPS}/j", [{"op": "replace", "path": "/metadata/resourceVersion", "value": "1"}]),
        patch(JSON_PATCH, f"{MAPS}/absent", []),
    ],
    "merge patch": [
        post(MAPS, config("m", data={"k": "v", "l": "m"})),
        patch(MERGE, f"{MAPS}/m", {"data": {"k": None, "z": "1"}}),
        patch(MERGE, f"{MAPS}/m", {}),
        patch(MERGE, f"{MAPS}/m", {"data": {"dry": "1"}}, dryRun="All"),
        patch(MERGE, f"{MAPS}/m", {"foo": 1}),
        patch(MERGE, f"{MAPS}/m", {"foo": 1}, fieldValidation="Strict"),
        patch(MERGE, f"{MAPS}/m", {"metadata": {"resourceVersion": "1"}, "data": {"q": "1"}}),
        patch(MERGE, f"{MAPS}/m", {"metadata": {"uid": "1"}}),
        patch(MERGE, f"{MAPS}/m", [1]),
        patch(MERGE, f"{MAPS}/m", b"x"),
        patch(MERGE, f"{MAPS}/m", {"data": {"q": "1"}}, force="true", fieldManager="x"),
        patch(MERGE, f"{MAPS}/absent", {}),
        patch("application/json", f"{MAPS}/m", {}),
        patch("text/plain", f"{MAPS}/m", {}),
        Request(f"{MAPS}/m", "PATCH", {}),
        get(f"{MAPS}/m"),
    ],
    "strategic merge patch": [
        post(PODS, pod("p")),
        patch(STRATEGIC, f"{PODS}/p", {"spec": {"containers": [{"name": "a", "image": "x:9"}]}}),
        patch(STRATEGIC, f"{PODS}/p", {"spec": {"containers": [{"name": "b", "image": "x:9"}]}}),
        patch(STRATEGIC, f"{PODS}/p", {"spec": {"containers": [{"$patch": "delete", "name": "b"}]}}),
        patch(STRATEGIC, f"{PODS}/p", {"metadata": {"labels": {"a": "b", "c": "d"}}}),
        patch(STRATEGIC, f"{PODS}/p", {"metadata": {"labels": {"$patch": "replace", "x": "y"}}}),
        patch(STRATEGIC, f"{PODS}/p", {"spec": {"containers": [{"image": "x:9"}]}}),
        patch(STRATEGIC, f"{PODS}/p", b"x"),
        get(f"{PODS}/p"),
    ],
    "status": [
        post(PODS, pod("p")),
        patch(STRATEGIC, f"{PODS}/p/status", {"status": {"phase": "Running"}}),
        patch(STRATEGIC, f"{PODS}/p/status", {"status": {"conditions": [{"type": "Ready", "status": "True"}]}}),
        patch(MERGE, f"{PODS}/p/status", {"metadata": {"labels": {"l": "1"}}, "spec": {"nodeName": "x"},
                                          "status": {"message": "m"}}),
        patch(MERGE, f"{PODS}/p", {"status": {"message": "not so"}, "metadata": {"labels": {"m": "1"}}}),
        get(f"{PODS}/p/status"),
    ],
    "apply": [
        patch(APPLY, f"{MAPS}/a", applied("a", data={"a": "1", "b": "2"}), fieldManager="one"),
        patch(APPLY, f"{MAPS}/a", applied("a", data={"a": "1"}), fieldManager="one"),
        patch(APPLY, f"{MAPS}/a", applied("a", data={"a": "3"}), fieldManager="two"),
        patch(APPLY, f"{MAPS}/a", applied("a", data={"a": "3"}), fieldManager="two", force="true"),
        patch(APPLY, f"{MAPS}/a", applied("a", data={"a": "3"})),
        patch(APPLY, f"{MAPS}/a", config("a"), fieldManager="two"),
        patch(APPLY, f"{MAPS}/a", applied("other"), fieldManager="two"),
        patch(APPLY, f"{MAPS}/a", b"x: [", fieldManager="two"),
        patch(APPLY, f"{MAPS}/a", {**applied("a"), "metadata": {"name": "a", "managedFields": [{"manager": "x"}]}},
              fieldManager="two"),
        patch(APPLY, f"{MAPS}/a", {**applied("a"), "metadata": {"name": "a", "resourceVersion": "1"}},
              fieldManager="two"),
        patch(APPLY, f"{MAPS}/b", applied("b", foo=1), fieldManager="two"),
        get(f"{MAPS}/a"),
    ],
    "delete": [
        post(MAPS, config("a")),
        delete(f"{MAPS}/a", dryRun="All"),
        delete(f"{MAPS}/a", {"preconditions": {"uid": OTHER_UID}}),
        delete(f"{MAPS}/a", {"preconditions": {"resourceVersion": "1"}}),
        delete(f"{MAPS}/a", {"propagationPolicy": "Rubbish"}),
        delete(f"{MAPS}/a", {"propagationPolicy": "Background", "orphanDependents": True}),
        delete(f"{MAPS}/a", {"dryRun": ["Bad"]}),
        delete(f"{MAPS}/a", {"kind": "Pod", "apiVersion": "v1"}),
        delete(f"{MAPS}/a", b"{"),
        delete(f"{MAPS}/a", gracePeriodSeconds="abc"),
        delete(f"{MAPS}/a", {"kind": "DeleteOptions", "apiVersion": "v1", "propagationPolicy": "Background"}),
        delete(f"{MAPS}/a"),
        delete("/api/v1/nodes/none"),
        post(PODS, pod("p")),
        delete(f"{PODS}/p"),
        get(f"{PODS}/p"),
        post(PODS, pod("n", nodeName="node-00")),
        delete(f"{PODS}/n", gracePeriodSeconds="0"),
        get(f"{PODS}/n"),
    ],
    "deletecollection": [
        *(post(MAPS, {"metadata": {"name": name, "labels": {"l": name}}}) for name in "abc"),
        delete(MAPS, labelSelector="l=none"),
        delete(MAPS, labelSelector="l=("),
        delete(MAPS, fieldSelector="metadata.name=a"),
        delete(MAPS, dryRun="All"),
        delete(MAPS, {"propagationPolicy": "Background"}),
        get(MAPS),
    ],
    "reviews": [
        post("/apis/authorization.k8s.io/v1/selfsubjectaccessreviews",
             {"spec": {"resourceAttributes": {"verb": "get", "resource": "pods"}}}),
        post("/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", {"spec": {}}),
        post("/apis/authorization.k8s.io/v1/selfsubjectrulesreviews", {"spec": {"namespace": "default"}}),
        post("/apis/authorization.k8s.io/v1/selfsubjectrulesreviews", {"spec": {}}),
        get("/apis/authorization.k8s.io/v1/selfsubjectrulesreviews"),
    ],
}  # fmt: skip
