"""What tests on a real control plane share: one test bed for the session, and fresh ones on request."""

from __future__ import annotations

import itertools
import uuid
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from tests.cluster.testbed.bed import Bed, running
from tests.cluster.testbed.control_plane import Options
from tests.cluster.testbed.programs import PROGRAMS, program


@pytest.fixture(scope="session")
def programs(need_program: Callable[[str], str]) -> dict[str, Path]:
    """All programs of the test bed by name, built where they are not there yet."""
    need_program("go")
    need_program("openssl")
    return {name: program(name) for name in PROGRAMS}


@pytest.fixture(scope="session")
def bed(programs: dict[str, Path], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bed]:
    """A test bed that all tests share; each works in a namespace of its own."""
    with running(tmp_path_factory.mktemp("bed")) as up:
        yield up


@pytest.fixture
def fresh_bed(programs: dict[str, Path], tmp_path: Path) -> Iterator[Callable[..., Bed]]:
    """`fresh_bed(audit_level="Metadata")`: a test bed of the test's own, with these fields of `Options`."""
    numbers = itertools.count()
    with ExitStack() as beds:
        yield lambda **options: beds.enter_context(running(tmp_path / f"bed-{next(numbers)}", Options(**options)))


@pytest.fixture
def namespace(bed: Bed) -> str:
    """A new namespace on the shared test bed. It stays: without a controller manager none is ever deleted."""
    name = f"t-{uuid.uuid4().hex[:12]}"
    created = bed.api().ask("/api/v1/namespaces", "POST", {"metadata": {"name": name}})
    assert created.status == 201, created.body
    return name
