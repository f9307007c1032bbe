"""Stop conditions fire on their own figure and on nothing else."""

from __future__ import annotations

from dataclasses import replace

import pytest

from perfq.drive.stop import Reading, StopLimits, check

QUIET = Reading(lag_max_ns=0, requests=100, errors=0, throttled=0, harness_rss_bytes=1)


@pytest.mark.parametrize(
    ("limits", "reading", "why"),
    [
        (StopLimits(lag_ms=10), replace(QUIET, lag_max_ns=10_000_001), "lag"),
        (StopLimits(error_share=0.1), replace(QUIET, errors=11), "error-share"),
        (StopLimits(throttle_share=0.1), replace(QUIET, throttled=11), "429-share"),
        (StopLimits(harness_memory_bytes=1 << 20), replace(QUIET, harness_rss_bytes=2 << 20), "harness-memory"),
    ],
)
def test_a_condition_beyond_its_limit_stops_with_its_figure(limits: StopLimits, reading: Reading, why: str) -> None:
    stop = check(limits, reading)
    assert stop is not None
    assert stop.why == why
    assert "limit" in stop.sentence
    assert check(StopLimits(), reading) is None


def test_a_share_of_a_handful_of_requests_stops_nothing() -> None:
    assert check(StopLimits(error_share=0.1), replace(QUIET, requests=5, errors=5)) is None


def test_a_figure_at_its_limit_does_not_stop() -> None:
    assert check(StopLimits(error_share=0.1), replace(QUIET, errors=10)) is None


@pytest.mark.parametrize("name", ["lag_ms", "error_share", "throttle_share", "harness_memory_bytes"])
def test_figures_have_to_be_read_for_a_limit_of_theirs(name: str) -> None:
    assert StopLimits(**{name: 1}).of_figures
    assert not StopLimits(max_time_s=1).of_figures
