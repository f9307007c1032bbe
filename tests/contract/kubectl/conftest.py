"""The pinned kubectl on a server of smoke-1k that all tests share; each writes into a namespace of its own."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from tests.contract.kubectl.served import Kubectl, served


@pytest.fixture(scope="session")
def kubectl(kubectl_program: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kubectl]:
    """kubectl on a server of smoke-1k whose Pods stand still."""
    with served("smoke-1k", "--start", "never") as kubeconfig:
        yield Kubectl(kubectl_program, kubeconfig, tmp_path_factory.mktemp("home"))


@pytest.fixture
def namespace(kubectl: Kubectl, request: pytest.FixtureRequest) -> Iterator[str]:
    """A namespace of the test's own."""
    name = "t-" + request.node.name.split("[")[0].removeprefix("test_").replace("_", "-")[:40].rstrip("-")
    kubectl.out("create", "namespace", name)
    yield name
    kubectl.out("delete", "namespace", name)
