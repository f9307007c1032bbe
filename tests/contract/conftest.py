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


#: So many of the long tests begin at once; the others are spread over the first four fifths of the rest.
AT_ONCE = 4
SPREAD = 0.8


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The longest tests begin first, so that none runs on when all others have ended; but not all of them together:
    they mostly wait, and those that compute would then stand beside one another."""

    def seconds(item: pytest.Item) -> int:
        marker = item.get_closest_marker("long")
        return int(marker.args[0]) if marker else 0

    long = sorted((item for item in items if seconds(item)), key=seconds, reverse=True)
    rest = [item for item in items if not seconds(item)]
    first, later = long[:AT_ONCE], long[AT_ONCE:]
    mixed = list(first)
    for at, item in enumerate(rest):
        while later and at >= SPREAD * len(rest) * (1 - len(later) / (len(long) - AT_ONCE)):
            mixed.append(later.pop(0))
        mixed.append(item)
    items[:] = mixed + later
