"""kubectl writes: create, apply in both ways, every type of patch, label, annotate, replace, delete."""

from __future__ import annotations

import json
from typing import Any

import pytest
from tests.contract.kubectl.served import Kubectl, rows

pytestmark = pytest.mark.contract


def pod(name: str = "p", **spec: Any) -> str:
    """A small Pod as JSON."""
    container = {"name": "app", "image": "example/app:1", "ports": [{"containerPort": 80}]}
    return json.dumps(
        {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": name, "labels": {"app": "web"}},
            "spec": {"containers": [container], **spec},
        }
    )


def deployment(image: str = "example/app:1", **spec: Any) -> str:
    """A Deployment as JSON."""
    template = {"metadata": {"labels": {"app": "web"}}, "spec": {"containers": [{"name": "app", "image": image}]}}
    return json.dumps(
        {
            "apiVersion": "apps/v1",
            "kind": "Deployment",
            "metadata": {"name": "web"},
            "spec": {"selector": {"matchLabels": {"app": "web"}}, "template": template, **spec},
        }
    )


def test_created_objects_of_each_kind_are_listed_as_on_a_real_server(kubectl: Kubectl, namespace: str) -> None:
    inside = ("-n", namespace)
    assert kubectl.out("create", "-f", "-", *inside, text=pod()) == "pod/p created\n"
    kubectl.out("create", "configmap", "settings", "--from-literal=a=1", "--from-literal=b=2", *inside)
    kubectl.out("create", "secret", "generic", "hidden", "--from-literal=key=value", *inside)
    kubectl.out("create", "deployment", "web", "--image=example/app:1", "--replicas=3", *inside)
    kubectl.out("create", "service", "clusterip", "web", "--tcp=80:8080", *inside)
    kubectl.out("create", "serviceaccount", "robot", *inside)
    kubectl.out("create", "job", "once", "--image=example/app:1", *inside)
    kubectl.out("create", "cronjob", "nightly", "--image=example/app:1", "--schedule=0 3 * * *", *inside)
    kubectl.out("create", "quota", "limits", "--hard=pods=5", *inside)

    def row(kind: str) -> list[str]:
        return rows(kubectl.out("get", kind, "--no-headers", *inside))[0]

    assert row("pods")[:4] == ["p", "0/1", "Pending", "0"]
    assert row("configmaps")[:2] == ["settings", "2"]
    assert row("secrets")[:3] == ["hidden", "Opaque", "1"]
    assert row("deployments")[:4] == ["web", "0/3", "0", "0"]
    assert row("services")[:5] == ["web", "ClusterIP", "<none>", "<none>", "80/TCP"]
    assert row("jobs")[:3] == ["once", "Running", "0/1"]
    assert row("cronjobs")[:9] == ["nightly", "0", "3", "*", "*", "*", "<none>", "False", "0"]
    assert row("serviceaccounts")[0] == "robot"
    assert row("quota")[0] == "limits"
    listed = kubectl.out("get", "all", "-o", "name", *inside).split()
    assert {"pod/p", "service/web", "deployment.apps/web", "job.batch/once", "cronjob.batch/nightly"} == set(listed)
    for kind in ("deployment/web", "service/web", "job/once", "cronjob/nightly", "secret/hidden", "quota/limits"):
        assert namespace in kubectl.out("describe", kind, *inside)
    secret = kubectl.json("get", "secret", "hidden", *inside)
    assert secret["data"] == {"key": "dmFsdWU="}


def test_a_created_object_has_an_identity_and_a_second_of_its_name_is_refused(kubectl: Kubectl, namespace: str) -> None:
    created = kubectl.json("create", "-f", "-", "-n", namespace, text=pod())
    metadata = created["metadata"]
    assert metadata["uid"]
    assert int(metadata["resourceVersion"]) > 0
    assert metadata["namespace"] == namespace
    again = kubectl.refusal("create", "-f", "-", "-n", namespace, text=pod())
    assert again == 'Error from server (AlreadyExists): error when creating "STDIN": pods "p" already exists\n'


def test_a_name_is_generated_on_request(kubectl: Kubectl, namespace: str) -> None:
    body = json.loads(pod())
    body["metadata"] = {"generateName": "web-"}
    first, second = (
        kubectl.json("create", "-f", "-", "-n", namespace, text=json.dumps(body))["metadata"]["name"] for _ in "ab"
    )
    assert first.startswith("web-")
    assert first != second


def test_a_broken_object_is_refused_with_what_is_wrong(kubectl: Kubectl, namespace: str) -> None:
    def refusal(text: str, *more: str) -> str:
        return kubectl.refusal("create", "-f", "-", "-n", namespace, *more, text=text)

    assert 'The Pod "A" is invalid: metadata.name: Invalid value: "A"' in refusal(pod("A"))
    assert 'unknown field "spec.foo"' in refusal(pod(foo=1))
    assert "spec.hostNetwork" in refusal(pod(hostNetwork="yes"))
    assert "spec.containers: Required value" in refusal(pod(containers=[]))
    elsewhere = kubectl.refusal("create", "-f", "-", "-n", "nowhere", text=pod())
    assert 'namespaces "nowhere" not found' in elsewhere
    warned = kubectl.run("create", "-f", "-", "-n", namespace, "--validate=warn", text=pod(foo=1))
    assert (warned.returncode, warned.stderr) == (0, 'Warning: unknown field "spec.foo"\n')


def test_a_dry_run_answers_and_stores_nothing(kubectl: Kubectl, namespace: str) -> None:
    inside = ("-n", namespace)
    dry = kubectl.out("create", "-f", "-", "--dry-run=server", *inside, text=pod())
    assert dry == "pod/p created (server dry run)\n"
    assert "(NotFound)" in kubectl.refusal("get", "pod", "p", *inside)
    kubectl.out("create", "-f", "-", *inside, text=pod())
    kubectl.out("label", "pod", "p", "x=y", "--dry-run=server", *inside)
    kubectl.out("delete", "pod", "p", "--dry-run=server", *inside)
    assert "x" not in kubectl.json("get", "pod", "p", *inside)["metadata"]["labels"]


def test_apply_from_the_client_creates_configures_and_prunes_fields(kubectl: Kubectl, namespace: str) -> None:
    def apply(text: str) -> str:
        return kubectl.out("apply", "-f", "-", "-n", namespace, text=text)

    assert apply(deployment(replicas=2)) == "deployment.apps/web created\n"
    assert apply(deployment(replicas=2)) == "deployment.apps/web unchanged\n"
    assert apply(deployment("example/app:2", replicas=3)) == "deployment.apps/web configured\n"
    stored = kubectl.json("get", "deployment", "web", "-n", namespace)
    assert stored["spec"]["replicas"] == 3
    assert stored["spec"]["template"]["spec"]["containers"][0]["image"] == "example/app:2"
    assert stored["metadata"]["generation"] == 2
    labelled = json.loads(deployment(replicas=3))
    labelled["metadata"]["labels"] = {"tier": "front"}
    apply(json.dumps(labelled))
    apply(deployment(replicas=3))
    assert "labels" not in kubectl.json("get", "deployment", "web", "-n", namespace)["metadata"]
    difference = kubectl.run("diff", "-f", "-", "-n", namespace, text=deployment("example/app:9", replicas=3))
    assert difference.returncode == 1
    assert "example/app:9" in difference.stdout


def test_apply_on_the_server_merges_owns_and_conflicts(kubectl: Kubectl, namespace: str) -> None:
    def arguments(manager: str, *more: str) -> tuple[str, ...]:
        return ("apply", "--server-side", f"--field-manager={manager}", "-f", "-", "-n", namespace, *more)

    assert kubectl.out(*arguments("one"), text=deployment(replicas=2)) == "deployment.apps/web serverside-applied\n"
    conflict = kubectl.refusal(*arguments("two"), text=deployment(replicas=5))
    assert 'conflict with "one": .spec.replicas' in conflict
    kubectl.out(*arguments("two", "--force-conflicts"), text=deployment(replicas=5))
    stored = kubectl.json("get", "deployment", "web", "-n", namespace, "--show-managed-fields")
    assert stored["spec"]["replicas"] == 5
    owners = {entry["manager"] for entry in stored["metadata"]["managedFields"] if entry["operation"] == "Apply"}
    assert owners == {"one", "two"}
    kubectl.out(*arguments("two"), text=deployment())
    # No one names the replicas any more: the default stands.
    assert kubectl.json("get", "deployment", "web", "-n", namespace)["spec"]["replicas"] == 1


@pytest.mark.parametrize(
    ("kind", "patch", "labels"),
    [
        ("json", '[{"op": "test", "path": "/metadata/labels/app", "value": "web"},'
                 ' {"op": "replace", "path": "/metadata/labels/new", "value": "1"}]', {"app": "web", "new": "1"}),
        ("merge", '{"metadata": {"labels": {"app": null, "x": "y"}}}', {"x": "y"}),
        ("strategic", '{"metadata": {"labels": {"$patch": "replace", "z": "1"}}}', {"z": "1"}),
    ],
)  # fmt: skip
def test_each_type_of_patch_is_applied(
    kubectl: Kubectl, namespace: str, kind: str, patch: str, labels: dict[str, str]
) -> None:
    kubectl.out("create", "-f", "-", "-n", namespace, text=pod())
    assert kubectl.out("patch", "pod", "p", "-n", namespace, "--type", kind, "-p", patch) == "pod/p patched\n"
    assert kubectl.json("get", "pod", "p", "-n", namespace)["metadata"]["labels"] == labels
    kubectl.out("delete", "pod", "p", "-n", namespace)


def test_a_strategic_patch_merges_containers_by_name_and_puts_new_ones_first(kubectl: Kubectl, namespace: str) -> None:
    kubectl.out("create", "-f", "-", "-n", namespace, text=deployment())
    containers = [{"name": "side", "image": "example/side:1"}, {"name": "app", "env": [{"name": "A", "value": "1"}]}]
    patch = json.dumps({"spec": {"template": {"spec": {"containers": containers}}}})
    kubectl.out("patch", "deployment", "web", "-n", namespace, "-p", patch)
    stored = kubectl.json("get", "deployment", "web", "-n", namespace)["spec"]["template"]["spec"]["containers"]
    assert [(one["name"], one["image"]) for one in stored] == [("side", "example/side:1"), ("app", "example/app:1")]
    assert stored[1]["env"] == [{"name": "A", "value": "1"}]


def test_a_patch_that_does_not_fit_is_refused(kubectl: Kubectl, namespace: str) -> None:
    kubectl.out("create", "-f", "-", "-n", namespace, text=pod())

    def refusal(kind: str, patch: str, name: str = "p") -> str:
        return kubectl.refusal("patch", "pod", name, "-n", namespace, "--type", kind, "-p", patch)

    failed_test = '[{"op": "test", "path": "/metadata/labels/app", "value": "other"}]'
    assert "the server rejected our request due to an error in our request" in refusal("json", failed_test)
    assert "pod updates may not change fields" in refusal("merge", '{"spec": {"hostname": "x"}}')
    assert "(Conflict)" in refusal("merge", '{"metadata": {"resourceVersion": "1"}}')
    assert "(NotFound)" in refusal("merge", "{}", "nothing")
    status = '{"status": {"phase": "Running"}}'
    kubectl.out("patch", "pod", "p", "-n", namespace, "--subresource=status", "--type", "merge", "-p", status)
    assert kubectl.json("get", "pod", "p", "-n", namespace)["status"]["phase"] == "Running"


def test_label_annotate_set_image_and_replace(kubectl: Kubectl, namespace: str) -> None:
    inside = ("-n", namespace)
    kubectl.out("create", "-f", "-", *inside, text=pod())
    assert kubectl.out("label", "pod", "p", "tier=front", *inside) == "pod/p labeled\n"
    assert "already has a value" in kubectl.refusal("label", "pod", "p", "tier=back", *inside)
    kubectl.out("label", "pod", "p", "tier=back", "--overwrite", *inside)
    kubectl.out("label", "pod", "p", "app-", *inside)
    kubectl.out("annotate", "pod", "p", "note=for people", *inside)
    kubectl.out("set", "image", "pod/p", "app=example/app:2", *inside)
    stored = kubectl.json("get", "pod", "p", *inside)
    assert stored["metadata"]["labels"] == {"tier": "back"}
    assert stored["metadata"]["annotations"] == {"note": "for people"}
    assert stored["spec"]["containers"][0]["image"] == "example/app:2"
    stored["metadata"]["labels"] = {"replaced": "yes"}
    assert kubectl.out("replace", "-f", "-", *inside, text=json.dumps(stored)) == "pod/p replaced\n"
    assert "the object has been modified" in kubectl.refusal("replace", "-f", "-", *inside, text=json.dumps(stored))


def test_planned_pods_take_labels_and_keep_their_status(kubectl: Kubectl) -> None:
    kubectl.out("label", "pod", "-n", "bench-0019", "pod-000019", "seen=yes")
    assert rows(kubectl.out("get", "pods", "-A", "-l", "seen=yes", "--no-headers"))[0][1:4] == [
        "pod-000019", "1/1", "Running",
    ]  # fmt: skip
    kubectl.out("label", "pod", "-n", "bench-0019", "pod-000019", "seen-")


def test_delete_removes_one_several_and_all(kubectl: Kubectl, namespace: str) -> None:
    inside = ("-n", namespace)
    for name in ("a", "b", "c", "d"):
        kubectl.out("create", "-f", "-", *inside, text=pod(name))
    assert kubectl.out("delete", "pod", "a", *inside) == f'pod "a" deleted from {namespace} namespace\n'
    assert "(NotFound)" in kubectl.refusal("delete", "pod", "a", *inside)
    kubectl.out("delete", "pod", "a", "--ignore-not-found", *inside)
    kubectl.out("delete", "pod", "b", "--force", "--grace-period=0", *inside)
    kubectl.out("delete", "pods", "-l", "app=web", *inside)
    assert kubectl.run("get", "pods", *inside).stdout == ""


def test_a_namespace_goes_with_all_that_is_in_it_and_with_nothing_else(kubectl: Kubectl) -> None:
    kubectl.out("create", "namespace", "short-lived")
    kubectl.out("create", "-f", "-", "-n", "short-lived", text=pod())
    kubectl.out("create", "-f", "-", "-n", "short-lived", text=deployment())
    kubectl.out("create", "configmap", "settings", "-n", "short-lived")
    kubectl.out("delete", "namespace", "short-lived")
    left = kubectl.out(
        "get", "pods,deployments,configmaps", "-A", "-o", "name", "--field-selector", "metadata.namespace=short-lived"
    )
    assert left == ""
    assert len(rows(kubectl.out("get", "pods", "-n", "bench-0000", "--no-headers"))) == 50
