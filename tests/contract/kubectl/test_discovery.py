"""kubectl asks what there is: version, api-resources, explain, auth can-i, get --raw."""

from __future__ import annotations

import json
import re

import pytest
from tests.contract.kubectl.served import Kubectl, rows

pytestmark = pytest.mark.contract

SERVED = {
    "configmaps", "endpoints", "events", "namespaces", "nodes", "pods", "resourcequotas", "secrets",
    "serviceaccounts", "services", "daemonsets", "deployments", "replicasets", "statefulsets",
    "selfsubjectaccessreviews", "selfsubjectrulesreviews", "cronjobs", "jobs", "leases",
}  # fmt: skip


def test_version_names_the_kubernetes_that_is_served(kubectl: Kubectl) -> None:
    version = kubectl.json("version")
    assert version["serverVersion"]["gitVersion"] == "v1.36.3+perfq"
    assert "WARNING" not in kubectl.run("version").stderr


def test_api_resources_and_versions_list_every_kind(kubectl: Kubectl) -> None:
    assert {row[0] for row in rows(kubectl.out("api-resources", "--no-headers"))} >= SERVED
    apps = rows(kubectl.out("api-resources", "--api-group=apps", "-o", "wide", "--no-headers"))
    assert ["deployments", "deploy", "apps/v1", "true", "Deployment"] in [row[:5] for row in apps]
    assert kubectl.out("api-versions").split() == [
        "apps/v1", "authorization.k8s.io/v1", "batch/v1", "coordination.k8s.io/v1", "metrics.k8s.io/v1beta1", "v1",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("field", "lines"),
    [
        ("pod", ["KIND:       Pod", "VERSION:    v1"]),
        ("pods.spec.containers.ports", ["FIELD: ports <[]ContainerPort>", "  containerPort\t<integer> -required-"]),
        ("deployment.spec.replicas", ["GROUP:      apps", "FIELD: replicas <integer>"]),
        ("cronjob.spec.jobTemplate.spec.template.spec", ["FIELD: spec <PodSpec>"]),
        ("lease.spec.renewTime", ["FIELD: renewTime <string>"]),
        ("cm.data", ["FIELD: data <map[string]string>"]),
    ],
)
def test_explain_shows_the_fields_of_every_kind(kubectl: Kubectl, field: str, lines: list[str]) -> None:
    text = kubectl.out("explain", field)
    for line in lines:
        assert line in text.splitlines(), text


def test_explain_shows_all_fields_at_once_and_refuses_what_is_none(kubectl: Kubectl) -> None:
    assert "livenessProbe\t<Probe>" in kubectl.out("explain", "pod", "--recursive")
    assert 'field "nothing" does not exist' in kubectl.refusal("explain", "pod.spec.nothing")


def test_auth_can_i_is_yes_to_everything(kubectl: Kubectl) -> None:
    assert kubectl.out("auth", "can-i", "delete", "pods", "-n", "bench-0000") == "yes\n"
    assert kubectl.out("auth", "can-i", "get", "/healthz") == "yes\n"
    assert re.search(r"^\*\.\* +\[\] +\[\] +\[\*\]$", kubectl.out("auth", "can-i", "--list"), re.MULTILINE)


def test_get_raw_reads_any_path(kubectl: Kubectl) -> None:
    assert kubectl.out("get", "--raw", "/readyz") == "ok"
    assert "/apis/apps/v1" in json.loads(kubectl.out("get", "--raw", "/"))["paths"]
    page = json.loads(kubectl.out("get", "--raw", "/api/v1/pods?limit=3"))
    assert (len(page["items"]), page["metadata"]["remainingItemCount"]) == (3, 997)
    assert json.loads(kubectl.out("get", "--raw", "/openapi/v2"))["swagger"] == "2.0"
    assert "(NotFound)" in kubectl.refusal("get", "--raw", "/apis/none/v1")


def test_what_is_not_served_says_so(kubectl: Kubectl) -> None:
    unserved = kubectl.refusal("exec", "-n", "bench-0000", "pod-000000", "--", "true")
    assert "not implement" in unserved or "not supported" in unserved
    assert "doesn't have a resource type" in kubectl.refusal("get", "ingresses")
