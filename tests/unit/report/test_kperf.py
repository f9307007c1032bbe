"""The figures of a load in the form of kperf's own results."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.unit.synthetic_load import MS, SECOND, Line, SyntheticLoad, ideal_load, load_of

from perfq.report.kperf import go_duration, kperf_result


def result_of(run: SyntheticLoad, tmp_path: Path) -> Any:
    return json.loads(kperf_result(load_of(run.write(tmp_path / "run"))))


def test_a_load_profile_has_a_report_for_each_spec_and_one_for_all(tmp_path: Path) -> None:
    result = result_of(ideal_load(segments=2), tmp_path)
    assert list(result) == ["perSpecResults", "aggregated"]
    first, whole = result["perSpecResults"][0], result["aggregated"]
    fields = ["total", "duration", "totalReceivedBytes", "percentileLatencies", "percentileLatenciesByURL"]
    assert list(first) == list(whole) == fields
    assert (first["total"], whole["total"], whole["totalReceivedBytes"]) == (1000, 2000, 2_000_000)
    assert (first["duration"], whole["duration"]) == ("10.01s", "20.02s")


def test_latencies_are_pairs_of_percentile_and_seconds(tmp_path: Path) -> None:
    whole = result_of(ideal_load(), tmp_path)["aggregated"]
    pairs = whole["percentileLatencies"]
    assert [p for p, _ in pairs] == [0, 0.5, 0.9, 0.95, 0.99, 1]
    assert pairs[0][1] == pytest.approx(0.002, rel=0.001)
    assert pairs[-1][1] == pytest.approx(0.0152, rel=0.001)
    assert list(whole["percentileLatenciesByURL"]) == [
        "GET https://127.0.0.1:6443/api/v1/pods/:name",
        "LIST https://127.0.0.1:6443/api/v1/namespaces/:namespace/pods",
        "PATCH https://127.0.0.1:6443/api/v1/configmaps/:name",
    ]


def failing(line: Line) -> Line:
    """One answer in ten is a 429, one never comes, one was on the wire at the end."""
    broken = {"errors": {"http/429": 10}, "timed_out": 1, "cancelled": 1}
    if line["k"] == "load_slice":
        return line | broken | {"ok": 88}
    total = {"errors": {"http/429": 100}, "timed_out": 10, "cancelled": 10, "ok": 880}
    return line | total if line["k"] == "load_end" else line


def test_errors_are_counted_by_their_class_and_what_kperf_does_not_know_is_added(tmp_path: Path) -> None:
    whole = result_of(ideal_load().mapped(failing), tmp_path)["aggregated"]
    assert whole["errorStats"] == {"connection/context deadline exceeded": 10, "http/429": 100}
    assert whole["cancelled"] == 10
    assert "notSent" not in whole


def test_a_replay_is_a_flat_report_with_its_runners(tmp_path: Path) -> None:
    run = ideal_load().mapped(failing)
    replayed = run.manifest.input.replace(kind="kperf replay")
    run.manifest = run.manifest.replace(input=replayed)
    result = result_of(run, tmp_path)
    assert (result["total"], result["runnerCount"], result["totalRun"], result["totalFailed"]) == (1000, 1, 1000, 110)
    assert "perSpecResults" not in result


def test_a_load_that_was_cut_off_has_what_there_is(tmp_path: Path) -> None:
    run = ideal_load().without(lambda line: line["k"] == "load_end")
    whole = result_of(run, tmp_path)["aggregated"]
    assert (whole["total"], whole["totalReceivedBytes"]) == (1000, 1_000_000)


@pytest.mark.parametrize(
    ("nanoseconds", "text"),
    [
        (0, "0s"),
        (1, "1ns"),
        (1_100, "1.1µs"),
        (12_300_000, "12.3ms"),
        (999_999_999, "999.999999ms"),
        (SECOND, "1s"),
        (30 * SECOND + 500 * MS, "30.5s"),
        (90 * SECOND + 500 * MS, "1m30.5s"),
        (60 * SECOND, "1m0s"),
        (3_600 * SECOND, "1h0m0s"),
        (3_661 * SECOND + 1, "1h1m1.000000001s"),
    ],
)
def test_durations_are_as_go_prints_them(nanoseconds: int, text: str) -> None:
    assert go_duration(nanoseconds) == text
