"""What contract tests share: the real programs that are run against the embedded server."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def kubectl_program(repository: Path, need_program: Callable[[str], str]) -> str:
    """The kubectl of the pinned Kubernetes version, built where it is not there yet."""
    need_program("go")
    built = subprocess.run(
        [repository / "scripts" / "testbed", "build", "kubectl"], capture_output=True, text=True, check=False
    )
    assert built.returncode == 0, built.stderr
    return built.stdout.strip()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The longest tests first, so that none runs on when all others have ended."""

    def seconds(item: pytest.Item) -> int:
        marker = item.get_closest_marker("long")
        return int(marker.args[0]) if marker else 0

    items.sort(key=seconds, reverse=True)
