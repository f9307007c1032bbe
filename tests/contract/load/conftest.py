"""The contrary server, built once and started as often as a test asks."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Protocol

import pytest
from tests.contract.load.contrary import Contrary


class Starts(Protocol):
    """`contrary(behaviour…, tls=, flags=)`: a server of its own, ended with the test."""

    def __call__(self, *, tls: bool = True, flags: tuple[str, ...] = (), **behaviour: Any) -> Contrary: ...


@pytest.fixture(scope="session")
def contrary_program(repository: Path, need_program: Callable[[str], str]) -> Path:
    """The path of the built server."""
    command = [need_program("cargo"), "build", "--quiet", "--workspace", "--example", "contrary_server"]
    done = subprocess.run(
        [*command, "--message-format", "json"], cwd=repository, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    made = [json.loads(line) for line in done.stdout.splitlines()]
    (path,) = (one["executable"] for one in made if one.get("target", {}).get("name") == "contrary_server")
    return Path(path)


@pytest.fixture
def contrary(contrary_program: Path, tmp_path: Path) -> Iterator[Starts]:
    started: list[Contrary] = []

    def start(*, tls: bool = True, flags: tuple[str, ...] = (), **behaviour: Any) -> Contrary:
        folder = tmp_path / f"contrary-{len(started)}"
        started.append(Contrary(contrary_program, folder, tls, behaviour, flags))
        return started[-1]

    yield start
    for server in started:
        server.kill()
