"""Runs in folders of one test's own, with and without cgroups."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.unit.trajectory.plans import plan, wait
from tests.unit.trajectory.runs import Runs

from perfq.errors import UsageError
from perfq.trajectory.ground import refuse


@pytest.fixture
def runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Runs:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return Runs(tmp_path)


@pytest.fixture(scope="session")
def need() -> Callable[[bool, str], None]:
    """Cgroups and mounts are what a machine lets us have or not, also one of CI: without them a test is skipped."""

    def check(condition: bool, reason: str) -> None:
        if not condition:
            pytest.skip(reason)

    return check


@pytest.fixture
def grouped(need: Callable[[bool, str], None], runs: Runs) -> Runs:
    """Where sessions can be frozen."""
    try:
        refuse(plan([wait(1)], wait={"mode": "freeze"}))
    except UsageError as error:
        need(False, str(error))
    return runs
