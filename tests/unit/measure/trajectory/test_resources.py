"""resources.ndjson, folded: the sampler's figures, memory weighted with time, and what a torn or missing file means."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from tests.unit.synthetic_sessions import MS, SECOND, T0, ideal_sessions, sessions_of

from perfq.judge.verdict import judge
from perfq.measure.trajectory.recorded import TrajectoryRecorded
from perfq.measure.trajectory.resources import Held

Line = dict[str, Any]


def sample(n: int, at: int, memory: int | None, queue: int = MS, took: int = 2 * MS) -> Line:
    stamps = {"queued": at, "begin": at + queue, "end": at + queue + took, "written": at + queue + took + 1000}
    return {"k": "resource", "t": stamps["end"], "n": n, **stamps, "memory": memory, "cpu_ns": 0, "psi": None}


def closed(**figures: Any) -> Line:
    known = {"errors": 0, "leaked": 0, "coverage_ppm": 990_000, "longest_gap_ns": SECOND, "error": None, "lost": 0}
    return {"k": "resource_close", "t": T0 + 9 * SECOND, **known, **figures}


def folded(tmp_path: Path, *lines: Line, end: str = "\n") -> TrajectoryRecorded:
    directory = ideal_sessions().done(sampling="isolated").write(tmp_path / "run")
    text = "\n".join(json.dumps(line) for line in lines) + end
    (directory / "resources.ndjson").write_text(text)
    return sessions_of(directory)


def test_the_sampler_s_figures_are_those_of_its_lines(tmp_path: Path) -> None:
    lines = [sample(0, T0 + at * 500 * MS, 1 << 20, queue=at * MS) for at in range(3)]
    sampling = folded(tmp_path, *lines, closed()).trajectory.sampling
    assert sampling is not None
    assert (sampling.samples, sampling.coverage_ppm, sampling.longest_gap_ns) == (3, 990_000, SECOND)
    assert (sampling.queue_ns.p50, sampling.queue_ns.max) == (MS, 2 * MS)
    assert (sampling.read_ns.max, sampling.write_ns.max, sampling.read_ns.p99) == (2 * MS, 1000, None)


def test_a_run_that_was_sampled_well_is_valid(tmp_path: Path) -> None:
    assert judge(folded(tmp_path, sample(0, T0, 1), closed())).result.verdict.status == "PASS"


def test_memory_is_weighted_with_time(tmp_path: Path) -> None:
    lines = [sample(0, T0, 100), sample(0, T0 + SECOND, 400), sample(0, T0 + 3 * SECOND, 0), sample(1, T0, 50)]
    one = folded(tmp_path, *lines, closed()).trajectory
    # 100 for one second and 400 for two is 300; the mean with 50 of the other session is 175.
    assert one.memory_bytes.mean == 175


@given(st.lists(st.tuples(st.integers(0, 10**12), st.integers(0, 2**40)), min_size=1, max_size=30))
def test_a_mean_over_time_lies_between_the_least_and_the_most(points: list[tuple[int, int]]) -> None:
    points.sort(key=lambda point: point[0])
    held = Held(points[0][0], points[0][0], points[0][1])
    for t, value in points[1:]:
        held.take(t, value)
    assert min(value for _, value in points) <= held.mean <= max(value for _, value in points)


def test_what_is_not_measured_is_null_and_never_0(tmp_path: Path) -> None:
    recorded = folded(tmp_path, sample(0, T0, None), closed(coverage_ppm=None))
    assert recorded.trajectory.memory_bytes.mean is None
    why = {one.field: one.text for one in recorded.warnings}
    assert why["/trajectory/memory_bytes/mean"] == "no sample of a session's memory was taken"
    assert why["/trajectory/sampling/coverage_ppm"] == "it was not recorded"
    names = [one.name for one in judge(recorded).result.validity.checks if one.status == "unknown"]
    assert names == ["samples missed"]


def test_a_sampler_that_was_killed_leaves_its_samples(tmp_path: Path) -> None:
    recorded = folded(tmp_path, sample(0, T0, 7), end="\n" + '{"k": "resource", "t"')
    sampling = recorded.trajectory.sampling
    assert sampling is not None
    assert (sampling.samples, sampling.coverage_ppm, sampling.leaked) == (1, None, None)
    assert "the last line of resources.ndjson was torn and left out" in [one.text for one in recorded.warnings]


def test_a_measurement_that_failed_makes_the_run_invalid_and_says_whose_and_why(tmp_path: Path) -> None:
    end = {"k": "resource_end", "t": T0, "n": 3, "outcome": "error", "why": "memory.stat: Input/output error"}
    recorded = folded(tmp_path, sample(0, T0, 7), end | {"due": 1, "taken": 1, "longest_gap_ns": 0}, closed(errors=1))
    assert "the sampler could not measure session 3: error: memory.stat: Input/output error" in [
        one.text for one in recorded.warnings
    ]
    assert judge(recorded).result.verdict.status == "INVALID"


def test_a_leaked_read_samples_missed_and_a_full_disk_are_each_invalid(tmp_path: Path) -> None:
    cases: list[tuple[dict[str, Any], str]] = [
        ({"leaked": 1}, "reads leaked"),
        ({"coverage_ppm": 949_999}, "samples missed"),
        ({"lost": 3, "error": "No space left on device"}, "samples lost"),
    ]
    for number, (figures, rule) in enumerate(cases):
        result = judge(folded(tmp_path / str(number), sample(0, T0, 7), closed(**figures))).result
        assert [one.name for one in result.validity.checks if one.status == "failed"] == [rule]


def psi(us: int, io: int | None) -> dict[str, Any]:
    return {name: {"some_us": value, "full_us": 0} for name, value in (("cpu", us), ("memory", us), ("io", io))}


def test_what_the_machine_stalled_is_told_from_the_kernel_s_totals(tmp_path: Path) -> None:
    start = {"k": "resource_start", "t": T0, "workers": 4, "psi": psi(100, io=None)}
    recorded = folded(tmp_path, start, closed(psi=psi(350, io=7)))
    pressure = recorded.trajectory.pressure_ns
    assert pressure is not None
    assert (pressure.cpu, pressure.memory, pressure.io) == (250_000, 250_000, None)
    why = {one.field: one.text for one in recorded.warnings}
    assert why["/trajectory/pressure_ns/io"].startswith("this kernel does not say")
    assert folded(tmp_path / "killed", start).trajectory.pressure_ns is None
