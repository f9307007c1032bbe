"""Reports of a request load. Golden files: `pytest --update-goldens` writes them anew."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.unit.synthetic_load import MS, SECOND, T0, Line, SyntheticLoad, histogram, ideal_load, load_of

from perfq.judge.verdict import judge
from perfq.measure.result import Result
from perfq.measure.result.whole import WholeResult
from perfq.profile.budget_file import preset
from perfq.profile.budgets import parse_budget
from perfq.report.junit import junit
from perfq.report.markdown import markdown
from perfq.report.summary import Style, summary

GOLDENS = Path(__file__).parent / "goldens"


def _pass() -> SyntheticLoad:
    return ideal_load().budgeted(*preset("k8s-slo"))


def _waiting(name: str, nanoseconds: int) -> SyntheticLoad:
    """Half of the plan was sent by its end, since requests waited or were late."""

    def change(line: Line) -> Line:
        if line["k"] == "load_slice":
            return line | {"latency": line["latency"] | {name: histogram([nanoseconds] * 100)}}
        return line | {"sent_by_end": 500, "drain_ns": 10 * SECOND} if line["k"] == "load_end" else line

    return ideal_load().mapped(change)


def _errors() -> SyntheticLoad:
    """From the sixth second on every tenth answer is a 429, and some never come."""

    def change(line: Line) -> Line:
        if line["k"] == "load_slice" and line["second"] >= 5:
            first = line["series"][0] | {"ok": 48, "errors": {"http/429": 10}, "timed_out": 2}
            broken = {"ok": 88, "errors": {"http/429": 10}, "timed_out": 2}
            return line | broken | {"series": [first, *line["series"][1:]]}
        if line["k"] == "load_end":
            return line | {"ok": 940, "errors": {"http/429": 50}, "timed_out": 10}
        return line

    text = "the server | has *received* too many requests\x1b[31m"
    sample = {"k": "load_error", "segment": 0, "key": "http/429", "series": "GET core/v1/pods object", "status": 429}
    run = ideal_load().mapped(change).adding(sample | {"t": T0 + 5_100 * MS, "text": text})
    return run.budgeted(parse_budget("load.error_share<=1%"), parse_budget("load.errors.http/500==0"))


def _nothing() -> SyntheticLoad:
    """Every request is turned away, and no budget speaks of it."""

    def change(line: Line) -> Line:
        counts = {"load_slice": 100, "load_end": 1000}.get(line["k"])
        return line if counts is None else line | {"ok": 0, "errors": {"http/403": counts}}

    return ideal_load().mapped(change)


def _aborted() -> SyntheticLoad:
    return ideal_load(segments=2).without(lambda line: line["t"] > T0 + 6 * SECOND + 500 * MS)


RUNS: dict[str, Callable[[], SyntheticLoad]] = {
    "load-pass": _pass,
    "load-target": lambda: _waiting("slot_wait", 3 * SECOND),
    "load-generator": lambda: _waiting("lag", 2 * SECOND),
    "load-errors": _errors,
    "load-nothing": _nothing,
    "load-aborted": _aborted,
}


def result_of(name: str, tmp_path: Path) -> Result:
    return judge(load_of(RUNS[name]().write(tmp_path / "run"))).result


@pytest.mark.parametrize("name", sorted(RUNS))
def test_the_reports_of_a_load_are_as_they_were(name: str, tmp_path: Path, golden: Callable[[Path, str], None]) -> None:
    result = result_of(name, tmp_path)
    golden(GOLDENS / f"{name}.md", markdown(result))
    golden(GOLDENS / f"{name}.junit.xml", junit(result))
    golden(GOLDENS / f"{name}.txt", summary(result))


@pytest.mark.parametrize("name", sorted(RUNS))
def test_the_same_result_read_back_gives_the_same_reports(name: str, tmp_path: Path) -> None:
    result = result_of(name, tmp_path)
    again = WholeResult.from_json(result.to_json())
    assert (markdown(again), junit(again), summary(again)) == (markdown(result), junit(result), summary(result))
    assert again.to_json() == result.to_json()


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("load-target", "the target held the load back: 50/s of 100/s were reached, since requests waited"),
        ("load-generator", "the generator held the load back: 50/s of 100/s were reached, since it was late"),
    ],
)
def test_one_sentence_says_what_held_the_load_back(name: str, said: str, tmp_path: Path) -> None:
    result = result_of(name, tmp_path)
    assert said in " ".join(summary(result).split())
    assert said[1:] in markdown(result).replace("\\", "")
    assert [one.code for one in result.warnings].count("held_back") == 1


def test_failures_that_no_budget_judges_are_in_the_summary(tmp_path: Path) -> None:
    said = " ".join(summary(result_of("load-nothing", tmp_path)).split())
    assert "1,000 of 1,000 requests failed (http/403 1,000), and no budget judges that; hold them to a share" in said


def test_a_report_has_what_watches_saw_and_how_long_they_waited_for_it(tmp_path: Path) -> None:
    def watching(line: Line) -> Line:
        if line["k"] != "load_slice":
            return line | {"resends": 7} if line["k"] == "load_end" else line
        times = {"watch_headers": histogram([2 * MS] * 3), "watch_first_event": histogram([5 * MS])}
        return line | {"watches": {"opened": 3, "events": 40}, "latency": line["latency"] | times}

    text = markdown(judge(load_of(ideal_load().mapped(watching).write(tmp_path))).result)
    assert "30 watches, 0 ended: 400 events" in text
    assert "| headers | 30 | 2 ms | – | 2 ms |" in text
    assert "| first event | 10 | 5 ms | – | 5 ms |" in text
    assert "initial bookmark |" not in text
    assert "7 requests sent again that the server had not taken" in text


def test_nothing_is_said_to_have_held_back_a_load_that_reached_its_rate(tmp_path: Path) -> None:
    assert "held the load back" not in markdown(result_of("load-pass", tmp_path))


def test_errors_over_time_are_drawn_where_there_were_any(tmp_path: Path) -> None:
    assert "errors a second" in summary(result_of("load-errors", tmp_path))
    assert "errors a second" not in summary(result_of("load-pass", tmp_path))


@pytest.mark.parametrize("width", [20, 40, 80, 200])
def test_the_charts_fit_the_terminal(width: int, tmp_path: Path) -> None:
    text = summary(result_of("load-errors", tmp_path), Style(width=width))
    assert all(len(line) <= width for line in text.splitlines() if "┤" in line or "└" in line)


def test_what_a_server_wrote_cannot_drive_the_terminal_or_the_table(tmp_path: Path) -> None:
    result = result_of("load-errors", tmp_path)
    assert "\x1b" not in markdown(result) + junit(result) + summary(result)
    assert "the server \\| has \\*received\\*" in markdown(result)


def test_junit_has_a_failure_for_a_missed_rate_and_an_error_for_a_late_generator(tmp_path: Path) -> None:
    for name, failures, errors in (
        ("load-target", 1, 0),
        ("load-generator", 1, 1),
        ("load-nothing", 1, 0),
        ("load-pass", 0, 0),
    ):
        suite = ET.fromstring(junit(result_of(name, tmp_path / name))).find("testsuite")
        assert suite is not None
        assert (int(suite.attrib["failures"]), int(suite.attrib["errors"])) == (failures, errors), name
