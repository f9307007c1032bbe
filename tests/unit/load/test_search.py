"""`load search`: what it refuses, and how its answer reads."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner
from tests.unit.load.test_requests import REPLAY

from perfq.cli import cli
from perfq.drive.bisection import Bisection, Try
from perfq.errors import UsageError
from perfq.report.search import SearchStep, search_document, search_text

GOLDENS = Path(__file__).parent / "goldens"


def refused(*arguments: str) -> str:
    done = CliRunner().invoke(cli, ["load", "search", *arguments])
    assert isinstance(done.exception, UsageError), done.exception
    return str(done.exception)


def test_lo_above_hi_is_no_range(repository: Path) -> None:
    profile = str(repository / "docs" / "examples" / "load" / "stale-list.yaml")
    assert "--lo: got 20/s, expected at most --hi, 10/s" in refused(profile, "--lo", "20/s", "--hi", "10/s")


def test_a_step_that_shows_nothing_is_refused(repository: Path) -> None:
    profile = str(repository / "docs" / "examples" / "load" / "stale-list.yaml")
    assert "--step: got 1 s, expected at least 3 s" in refused(profile, "--lo", "1/s", "--hi", "10/s", "--step", "1s")


def test_what_has_no_one_rate_cannot_be_searched(repository: Path, tmp_path: Path) -> None:
    replay = tmp_path / "replay.yaml"
    replay.write_text(REPLAY)
    assert "a kperf replay has its own instants" in refused(str(replay), "--lo", "1/s", "--hi", "10/s")
    group = str(repository / "docs" / "examples" / "load" / "runner-group.yaml")
    assert "has 2 specs" in refused(group, "--lo", "1/s", "--hi", "10/s")
    stages = str(repository / "docs" / "examples" / "load" / "stages.yaml")
    assert "stages" in refused(stages, "--lo", "1/s", "--hi", "10/s")


def test_a_step_too_short_for_a_budget_is_refused_before_anything_starts(repository: Path, tmp_path: Path) -> None:
    profile = str(repository / "docs" / "examples" / "load" / "stale-list.yaml")
    flags = ("--lo", "10/s", "--hi", "20/s", "--step", "3s", "--budget", "latency.response.p99<=1s")
    said = refused(profile, *flags, "--out", str(tmp_path / "search"))
    assert "--step: 3 s at 10/s are 30 requests, and latency.response.p99 needs 100: expected at least 10 s" in said
    assert not (tmp_path / "search").exists()


def step(tried: Try, limit: float) -> SearchStep:
    held = tried.value <= limit
    p99 = 5_000_000 if held else 2_000_000_000
    return SearchStep(
        rate=tried.value,
        why=tried.why,
        run="step-01",
        held=held,
        status="PASS" if held else "FAIL",
        achieved_rate=min(tried.value, limit),
        answered_rate=min(tried.value, limit),
        error_share=0.0,
        response_p50_ns=1_000_000,
        response_p99_ns=p99,
        service_p99_ns=p99,
    )


@pytest.mark.parametrize("limit", [437.0, 50.0, 5_000.0])
def test_the_answer_reads_as_it_did(limit: float, golden: Callable[[Path, str], None]) -> None:
    bisection, steps = Bisection(100, 1_000), []
    while (tried := bisection.next()) is not None:
        steps.append(step(tried, limit))
        bisection.note(tried, held=steps[-1].held is True)
    why = (0, "confirmed") if bisection.found else (3, "not even 100/s held")
    golden(GOLDENS / f"search-{limit:g}.txt", search_text(search_document(bisection, steps, "mix.yaml", why)))
