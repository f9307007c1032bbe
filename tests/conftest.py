"""What all tests share: skipping with a reason (never in CI), golden files, hypothesis without wall-clock limits."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

# A deadline would be an assertion on wall-clock time. `print_blob` lets anyone replay what CI found.
settings.register_profile("perfq", deadline=None, print_blob=True, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("perfq")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update-goldens", action="store_true", help="write the golden files anew, then look at the diff")


@pytest.fixture(scope="session")
def repository() -> Path:
    """The top of the checkout."""
    return Path(__file__).resolve().parent.parent


@pytest.fixture(scope="session")
def need() -> Callable[[bool, str], None]:
    """`need(condition, reason)`: skips the test where the condition does not hold; with CI set it fails instead."""

    def check(condition: bool, reason: str) -> None:
        if condition:
            return
        if os.environ.get("CI"):
            pytest.fail(f"CI has to have it: {reason}")
        pytest.skip(reason)

    return check


@pytest.fixture(scope="session")
def need_program(need: Callable[[bool, str], None]) -> Callable[[str], str]:
    """`need_program("go")`: the program's path, by the rule of `need` where it is not installed."""

    def find(name: str) -> str:
        path = shutil.which(name)
        need(path is not None, f"{name} is not installed")
        assert path is not None
        return path

    return find


@pytest.fixture
def golden(request: pytest.FixtureRequest) -> Callable[[Path, str], None]:
    """`golden(path, text)`: the file holds exactly this text. `--update-goldens` writes it instead."""

    def check(path: Path, text: str) -> None:
        if request.config.getoption("--update-goldens"):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        assert path.is_file(), f"{path} is missing: run pytest --update-goldens, then look at what it wrote"
        assert text == path.read_text(), f"{path} differs; where that is right: pytest --update-goldens"

    return check
