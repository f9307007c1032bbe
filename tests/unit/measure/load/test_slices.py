"""Series over time: the same figures as from all samples at once, however long the load is."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.synthetic_load import SECOND, SERIES, T0, ideal_load, load_of

from perfq._core import Histogram
from perfq.measure.load.recording import LoadRecording
from perfq.measure.load.slices import MOST_SLICES, Slice, Slices, slice_seconds

SAMPLES = st.lists(st.integers(0, 10**10), min_size=1, max_size=5)


def of(values: list[int]) -> Histogram:
    found = Histogram()
    for value in values:
        found.record(value)
    return found


@given(st.lists(st.tuples(st.integers(0, 9), SAMPLES), max_size=30), st.sampled_from([1, 2, 4]))
def test_a_slice_has_the_figures_of_all_its_samples_at_once(told: list[tuple[int, list[int]]], seconds: int) -> None:
    told.sort(key=lambda one: one[0])
    slices = Slices(seconds)
    expected: dict[int, list[int]] = {}
    for second, values in told:
        slices.add("GET", slices.at(second), len(values), of(values))
        expected.setdefault(second // seconds, []).extend(values)
    found = {second // seconds: one for second, one in slices.of("GET")}
    assert list(found) == sorted(expected)
    for number, values in expected.items():
        known = of(values).figures()
        one = found[number]
        assert (one.count, one.errors) == (len(values), len(values))
        assert (one.p50, one.p99, one.max) == (known["p50"], known["p99"], known["max"])


def test_of_each_series_one_slice_alone_is_held_as_a_histogram() -> None:
    slices = Slices()
    for second in range(1000):
        for key in ("GET", "LIST"):
            slices.add(key, slices.at(second), 0, of([second]))
    assert len(slices._filling) == 2
    assert all(isinstance(one, Slice) for part in slices._closed.values() for one in part.values())


def test_what_was_told_before_is_kept_apart_by_series() -> None:
    slices = Slices()
    slices.add("GET", slices.at(0), 1, of([5]))
    slices.add("LIST", slices.at(3), 0, of([7]))
    assert [(second, one.count, one.errors) for second, one in slices.of("GET")] == [(0, 1, 1)]
    assert [(second, one.max) for second, one in slices.of("LIST")] == [(3, 7)]
    assert list(slices.of("PUT")) == []


def test_time_that_runs_backwards_is_refused() -> None:
    slices = Slices(2)
    assert slices.at(5) == slices.at(4) == 2
    with pytest.raises(ValueError, match="second 3 of the load comes after second 4"):
        slices.at(3)


def test_a_line_that_belongs_to_a_slice_before_is_counted_as_a_bad_one(tmp_path: Path) -> None:
    run = ideal_load(segments=2)
    path = run.write(tmp_path / "run") / "samples.ndjson"
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    first = next(line for line in lines if line["k"] == "load_slice" and line["segment"] == 0)
    path.write_text("".join(json.dumps(line) + "\n" for line in [*lines, first]))
    recording = LoadRecording.load(path)
    assert recording.reading.bad == 1
    assert "comes after second" in recording.reading.named[0]
    assert sum(one.count for _, one in recording.slices.of(SERIES[0][0])) == 1200


@pytest.mark.parametrize(("length", "expected"), [(1, 1), (60, 1), (61, 2), (120, 2), (121, 4), (1000, 32)])
def test_slices_are_as_long_as_it_takes_for_there_to_be_few(tmp_path: Path, length: int, expected: int) -> None:
    path = ideal_load(seconds=length).write(tmp_path / "run") / "samples.ndjson"
    assert slice_seconds(path, ()) == expected
    assert -(-length // expected) <= MOST_SLICES


def test_segments_that_warm_up_and_lines_of_another_hand_do_not_count(tmp_path: Path) -> None:
    path = tmp_path / "samples.ndjson"
    begun = [{"k": "load_segment", "t": T0, "segment": n, "t0": T0 + n * 50 * SECOND} for n in range(2)]
    told = [{"k": "load_slice", "t": T0 + t * SECOND, "segment": t // 50, "second": t} for t in range(1, 100)]
    odd = [
        "not JSON",
        '{"k":"later"}',
        '{"k":"load_slice","t":1e99,"segment":0}',
        '{"k":"load_slice","t":9,"segment":7}',
    ]
    path.write_text("\n".join([*map(json.dumps, begun), *odd, *map(json.dumps, told)]) + '\n{"k":"load_sl')
    assert slice_seconds(path, ()) == 2
    assert slice_seconds(path, {0}) == 1


def test_the_slices_of_a_result_add_up(tmp_path: Path) -> None:
    series = load_of(ideal_load(seconds=90).write(tmp_path / "run")).load.series[0]
    assert [one.second for one in series.slices] == list(range(0, 90, 2))
    assert sum(one.count for one in series.slices) == series.ok
