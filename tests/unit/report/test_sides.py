"""Replayed sessions side by side: medians, what differs, and why they may not be compared."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from tests.unit.synthetic_sessions import MS, SECOND, T0, SyntheticSessions, ideal_sessions, sessions_of

from perfq.judge.verdict import judge
from perfq.measure.result import Result
from perfq.report.side_by_side import side_by_side, side_by_side_document, side_by_side_markdown
from perfq.report.sides import Side, differences, why_not

Judged = Callable[[SyntheticSessions], Result]


@pytest.fixture
def judged(tmp_path: Path) -> Judged:
    count = iter(range(1000))
    return lambda run: judge(sessions_of(run.write(tmp_path / f"run-{next(count)}"))).result


def three(judged: Judged, name: str, **facts: object) -> Side:
    return Side(name, [judged(ideal_sessions(f"{name}-{n}").done(**facts)) for n in range(3)])


def test_runs_of_the_same_work_may_be_compared(judged: Judged) -> None:
    sides = [three(judged, "a"), three(judged, "b", sampling_workers=2)]
    assert why_not(sides) == []
    assert differences(sides) == ["sampler's threads: 4 | 2"]
    assert "They may be compared" in side_by_side(sides)


def test_the_median_is_over_the_runs_that_have_the_figure(judged: Judged) -> None:
    extras = [judged(ideal_sessions().changing("tj_session", extra=extra * MS)) for extra in (1, 2, 9)]
    assert Side("a", extras).median.extra_wait_ns.mean == 2 * MS
    aborted = ideal_sessions().adding({"k": "stop", "t": T0, "why": "lag"})
    assert Side("a", [judged(ideal_sessions()), judged(aborted)]).median.makespan_ns is not None
    assert Side("a", [judged(aborted)] * 2).median.makespan_ns is None


@pytest.mark.parametrize(
    ("other", "reason"),
    [
        (ideal_sessions().done(work_sha256="00" * 32), "other work: the sessions are not the same commands and waits"),
        (
            ideal_sessions().changing("tj_command", n=2, outcome="timed_out_cleaned"),
            "other work: 2 of 16 commands of agents-1201-120000-abcd did not complete",
        ),
        (ideal_sessions().done(timeout_ns=9 * SECOND), "other timeouts: 30 s and 1 s of grace | 9 s and 1 s of grace"),
        (
            ideal_sessions().adding({"k": "stop", "t": T0, "why": "lag", "figure": "f"}),
            "agents-1201-120000-abcd is ABORTED: stopped by lag: f",
        ),
    ],
)
def test_each_reason_against_a_comparison_is_said(other: SyntheticSessions, reason: str, judged: Judged) -> None:
    sides = [three(judged, "a"), Side("b", [judged(other)] * 3)]
    assert why_not(sides) == [reason] * (1 if "of agents" not in reason and "is ABORTED" not in reason else 3)
    assert reason.split(" | ", maxsplit=1)[0] in side_by_side_markdown(sides).replace("\\", "")


@pytest.mark.parametrize(("runs", "word"), [(1, "one run each"), (2, "2 runs each")])
def test_too_few_runs_show_no_spread(runs: int, word: str, judged: Judged) -> None:
    side = Side("a", [judged(ideal_sessions())] * runs)
    assert why_not([side, side])[0].startswith(word)


def test_another_machine_is_a_reason(judged: Judged) -> None:
    a = three(judged, "a")
    host = a.results[0].manifest.host.replace(cpus_allowed=24.0)
    moved = [one.replace(manifest=one.manifest.replace(host=host)) for one in a.results]
    assert why_not([a, Side("b", moved)]) == [
        "other machines: CPU, kernel, memory or the CPUs that were allowed differ"
    ]


def test_the_table_has_a_row_for_each_figure_that_anybody_has(judged: Judged) -> None:
    text = side_by_side([three(judged, "off"), three(judged, "again")])
    rows = {line.split("  ")[0]: line for line in text.splitlines()}
    assert "mean 1 ms, worst 1 ms" in rows["extra wait a session (the harness's own)"]
    assert "samples" not in rows  # neither sampled
    assert rows["runs (figures are medians)"].split() == ["runs", "(figures", "are", "medians)", "3", "3"]
    assert "2.71 s … 2.71 s" in rows["makespan"] or "2.71 s" in rows["makespan"]


def test_the_document_has_the_medians_and_the_reasons(judged: Judged) -> None:
    document = side_by_side_document([three(judged, "a"), Side("b", [judged(ideal_sessions())])])
    assert [side["name"] for side in document["sides"]] == ["a", "b"]
    assert document["sides"][0]["median"]["extra_wait_ns"] == {"mean": MS, "max": MS}
    assert document["not_comparable"] == ["one run each: without a spread a difference may be chance"]
