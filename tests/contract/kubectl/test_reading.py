"""kubectl reads: get in its forms, describe, logs, watch."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from tests.contract.deadline import wait_for
from tests.contract.kubectl.served import Kubectl, rows, served

pytestmark = pytest.mark.contract

HEADER = ["NAME", "READY", "STATUS", "RESTARTS", "AGE"]
WIDE = [*HEADER, "IP", "NODE", "NOMINATED", "NODE", "READINESS", "GATES"]


def test_get_prints_the_table_of_pods_as_on_a_real_server(kubectl: Kubectl) -> None:
    table = rows(kubectl.out("get", "pods", "-n", "bench-0003"))
    assert table[0] == HEADER
    assert len(table) == 51
    assert table[1][:4] == ["pod-000003", "1/1", "Running", "0"]
    assert re.fullmatch(r"\d+[a-z0-9]+", table[1][4])
    wide = rows(kubectl.out("get", "pods", "-n", "bench-0003", "-o", "wide"))
    assert wide[0] == WIDE
    assert wide[1][5:] == ["10.0.0.4", "node-03", "<none>", "<none>"]


def test_get_in_all_namespaces_counts_every_pod(kubectl: Kubectl) -> None:
    table = rows(kubectl.out("get", "pods", "-A"))
    assert table[0] == ["NAMESPACE", *HEADER]
    assert len(table) == 1001
    assert len(rows(kubectl.out("get", "pods", "-A", "--no-headers", "--chunk-size=7"))) == 1000


def test_get_prints_json_yaml_names_and_columns(kubectl: Kubectl) -> None:
    pod = kubectl.json("get", "pod", "-n", "bench-0000", "pod-000000")
    assert (pod["kind"], pod["apiVersion"], pod["spec"]["nodeName"]) == ("Pod", "v1", "node-00")
    assert "managedFields" not in pod["metadata"]
    assert len(kubectl.json("get", "pods", "-n", "bench-0000")["items"]) == 50
    assert "\n  name: pod-000000\n" in kubectl.out("get", "pod", "-n", "bench-0000", "pod-000000", "-o", "yaml")
    assert kubectl.out("get", "pod", "-n", "bench-0000", "pod-000000", "-o", "name") == "pod/pod-000000\n"
    columns = ("-o", "custom-columns=N:.metadata.name,P:.status.phase")
    chosen = rows(kubectl.out("get", "pod", "-n", "bench-0000", "pod-000000", *columns))
    assert chosen[1] == ["pod-000000", "Running"]
    by_name = kubectl.out("get", "pods", "-n", "bench-0000", "--sort-by=.metadata.name", "-o", "name").split()
    assert by_name == sorted(by_name)


@pytest.mark.parametrize(
    ("selection", "count"),
    [
        (["-l", "app=bench"], 1000),
        (["-l", "perfq.dev/shard in (shard-01,shard-02)"], 200),
        (["-l", "perfq.dev/shard notin (shard-01),app"], 900),
        (["-l", "!app"], 0),
        (["--field-selector", "spec.nodeName=node-01"], 200),
        (["--field-selector", "status.phase!=Running"], 0),
        (["--field-selector", "metadata.namespace=bench-0007", "-l", "app!=other"], 50),
        (["--field-selector", "metadata.name=pod-000042"], 1),
    ],
)
def test_get_selects_by_labels_and_fields(kubectl: Kubectl, selection: list[str], count: int) -> None:
    assert len(rows(kubectl.out("get", "pods", "-A", "--no-headers", *selection))) == count


def test_get_says_what_is_not_there_and_what_it_cannot_select_by(kubectl: Kubectl) -> None:
    missing = kubectl.refusal("get", "pod", "-n", "bench-0000", "nothing")
    assert missing == 'Error from server (NotFound): pods "nothing" not found\n'
    assert kubectl.run("get", "pods", "-n", "nowhere").stderr == "No resources found in nowhere namespace.\n"
    field = kubectl.refusal("get", "pods", "-A", "--field-selector", "spec.x=1")
    assert "(BadRequest)" in field
    assert "field label not supported: spec.x" in field
    assert "the server doesn't have a resource type" in kubectl.refusal("get", "unicorns")


def test_get_lists_namespaces_nodes_and_kinds_without_objects(kubectl: Kubectl) -> None:
    namespaces = rows(kubectl.out("get", "namespaces"))
    assert namespaces[0] == ["NAME", "STATUS", "AGE"]
    assert ["bench-0019", "Active"] in [row[:2] for row in namespaces]
    nodes = rows(kubectl.out("get", "nodes", "-o", "wide"))
    assert nodes[0][:6] == ["NAME", "STATUS", "ROLES", "AGE", "VERSION", "INTERNAL-IP"]
    assert [row[:2] for row in nodes[1:]] == [[f"node-{i:02}", "Ready"] for i in range(5)]
    assert kubectl.run("get", "cronjobs,leases,quota", "-A").stderr == "No resources found\n"


def test_describe_shows_pods_nodes_and_namespaces(kubectl: Kubectl) -> None:
    pod = kubectl.out("describe", "pod", "-n", "bench-0001", "pod-000001")
    assert re.search(r"^Name: +pod-000001$", pod, re.MULTILINE)
    assert re.search(r"^    Restart Count: +0$", pod, re.MULTILINE)
    assert re.search(r"^Events: +<none>$", pod, re.MULTILINE)
    node = kubectl.out("describe", "node", "node-01")
    assert re.search(r"^Non-terminated Pods: +\(200 in total\)$", node, re.MULTILINE)
    assert re.search(r"^Status: +Active$", kubectl.out("describe", "namespace", "bench-0001"), re.MULTILINE)


def test_logs_are_printed_in_part_and_followed(kubectl: Kubectl) -> None:
    tail = kubectl.out("logs", "-n", "bench-0000", "pod-000000", "--tail=3")
    assert len(tail.splitlines()) == 3
    assert "pod-000000" in tail
    argv, environment = kubectl.command("logs", "-f", "-n", "bench-0000", "pod-000000")
    with subprocess.Popen(argv, env=environment, stdout=subprocess.PIPE, text=True) as following:
        assert following.stdout is not None
        assert "pod-000000" in following.stdout.readline()
        following.send_signal(signal.SIGINT)
    assert "(NotFound)" in kubectl.refusal("logs", "-n", "bench-0000", "nothing")


def test_top_shows_nodes_and_pods(kubectl: Kubectl) -> None:
    assert [row[0] for row in rows(kubectl.out("top", "nodes"))[1:]] == [f"node-{i:02}" for i in range(5)]
    pods = rows(kubectl.out("top", "pods", "-n", "bench-0002"))
    assert pods[0] == ["NAME", "CPU(cores)", "MEMORY(bytes)"]
    assert len(pods) == 51
    assert re.fullmatch(r"\d+m", pods[1][1])


def test_top_needs_the_metrics_api(kubectl: Kubectl, kubectl_program: str) -> None:
    with served("smoke-1k", "--start", "never", "--no-metrics") as kubeconfig:
        without = Kubectl(kubectl_program, kubeconfig, kubectl.home)
        assert "Metrics API not available" in without.refusal("top", "nodes")


def planned_restarts(profile: str) -> dict[str, list[int]]:
    """The restart counts that the plan gives each Pod, in order."""
    emitted = subprocess.run(
        [sys.executable, "-m", "perfq", "plan", profile, "--emit", "events"],
        capture_output=True,
        text=True,
        check=True,
    )
    planned: dict[str, list[int]] = {}
    for line in emitted.stdout.splitlines():
        event = json.loads(line)
        planned.setdefault(event["name"], []).append(event["restarts"])
    return planned


@pytest.mark.long(30)
def test_a_watch_of_50000_pods_shows_the_restarts_of_the_plan(
    kubectl_program: str, tmp_path: Path, kubectl: Kubectl
) -> None:
    with served("burst-50k", "--start", "watch") as kubeconfig:
        large = Kubectl(kubectl_program, kubeconfig, kubectl.home)
        assert len(large.out("get", "pods", "-A", "--no-headers").splitlines()) == 50_000
        argv, environment = large.command("get", "pods", "-A", "--no-headers", "--watch-only")
        shown = tmp_path / "watch"
        with shown.open("w") as out, subprocess.Popen(argv, env=environment, stdout=out) as watching:
            enough = wait_for(lambda: shown.read_text().count("\n") >= 500)
            watching.send_signal(signal.SIGINT)
        assert enough
    planned = planned_restarts("burst-50k")
    seen: dict[str, list[int]] = {}
    for row in rows(shown.read_text())[:500]:
        seen.setdefault(row[1], []).append(int(row[4]))
    for name, restarts in seen.items():
        # Each change that was shown is the plan's, in the plan's order, and none is missing in between.
        assert restarts == planned[name][: len(restarts)], name
