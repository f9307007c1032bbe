"""scripts/testbed as people call it."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

pytestmark = pytest.mark.cluster


@pytest.fixture
def testbed(repository: Path, tmp_path: Path) -> Callable[..., subprocess.CompletedProcess[str]]:
    """Calls scripts/testbed from another folder, with these variables."""

    def call(*arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [repository / "scripts" / "testbed", *arguments],
            cwd=tmp_path, env=os.environ | variables, capture_output=True, text=True, check=False,
        )  # fmt: skip

    return call


def test_up_kubeconfig_down(
    testbed: Callable[..., subprocess.CompletedProcess[str]], programs: dict[str, Path], tmp_path: Path
) -> None:
    assert testbed("build", "etcd", "kubectl").stdout == f"{programs['etcd']}\n{programs['kubectl']}\n"
    started = testbed("up", "--dir", "mine", "--audit-log", "kept/audit.log", "--audit-level", "Metadata")
    assert started.stdout == f"{tmp_path}/mine/kubeconfig\n", started.stderr
    try:
        assert testbed("kubeconfig", "--dir", "mine").stdout == started.stdout
        command = [str(programs["kubectl"]), "--kubeconfig", started.stdout.strip(), "get", "--raw", "/readyz"]
        assert subprocess.run(command, capture_output=True, text=True, check=True).stdout == "ok"
    finally:
        ended = testbed("down", "--dir", "mine")
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "", "")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["kept"]
    assert "readyz" in (tmp_path / "kept" / "audit.log").read_text()

    assert "there is no test bed in" in testbed("down", "--dir", "mine").stderr
    missing = testbed("kubeconfig", "--dir", "mine")
    assert (missing.returncode, missing.stdout) == (7, "")
    assert "scripts/testbed up starts one" in missing.stderr


def test_what_it_does_not_know_is_a_usage_error(testbed: Callable[..., subprocess.CompletedProcess[str]]) -> None:
    unknown = testbed("build", "kubelet")
    assert unknown.returncode == 2
    assert unknown.stderr == "perfq: testbed: got 'kubelet', expected a program of etcd, kube-apiserver, kubectl\n"
    assert testbed("start").returncode == 2


def test_without_go_it_says_what_to_install(
    testbed: Callable[..., subprocess.CompletedProcess[str]], tmp_path: Path
) -> None:
    bare = tmp_path / "bin"
    bare.mkdir()
    for program in ("bash", "dirname", "python3"):
        (bare / program).symlink_to(next(p for p in (Path("/usr/bin", program), Path("/bin", program)) if p.exists()))
    refused = testbed("build", "etcd", PATH=str(bare), PERFQ_TESTBED=str(tmp_path / "cache"), KUBEBUILDER_ASSETS="")
    assert (refused.returncode, refused.stdout) == (78, "")
    assert refused.stderr == "perfq: testbed: go was not found; install Go 1.26 or newer and try again\n"


def test_assets_are_used_in_the_pinned_version_alone(
    testbed: Callable[..., subprocess.CompletedProcess[str]], programs: dict[str, Path], tmp_path: Path
) -> None:
    assets = tmp_path / "assets"
    assets.mkdir()
    (assets / "kube-apiserver").symlink_to(programs["kube-apiserver"])
    kubectl = assets / "kubectl"
    kubectl.write_text("#!/bin/sh\necho Client Version: v1.2.3\n")
    kubectl.chmod(0o755)
    built = testbed("build", "kube-apiserver", "kubectl", KUBEBUILDER_ASSETS=str(assets))
    assert built.stdout == f"{assets}/kube-apiserver\n{programs['kubectl']}\n"
    assert built.stderr == f"perfq: testbed: {assets}/kubectl is not v1.36.3; building that\n"
