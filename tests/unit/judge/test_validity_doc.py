"""docs/concepts/validity.md names every rule that a run can be judged by, and no other."""

from __future__ import annotations

import re
from pathlib import Path

from tests.unit.synthetic import ideal_run, profile
from tests.unit.synthetic_load import ideal_load, load_of
from tests.unit.synthetic_sessions import ideal_sessions, sessions_of

from perfq.judge.verdict import judge
from perfq.measure.failures.predicates import PREDICATES
from perfq.measure.fold import fold


def documented_rules(repository: Path, title: str) -> set[str]:
    """The first column of the table under a title."""
    text = (repository / "docs/concepts/validity.md").read_text()
    table = text.partition(title)[2].partition("\n##")[0]
    found = set()
    for row in re.findall(r"^\| ([^|]+) \|", table, flags=re.M):
        found |= {
            name.strip() for name in re.split(r"[(),]| below 100 (?:events|requests|sessions)", row) if name.strip()
        }
    return found - {"rule"}


def test_the_table_of_a_load_is_the_list_of_its_checks(repository: Path, tmp_path: Path) -> None:
    few = ideal_load(seconds=1).mapped(lambda line: line | {"latency": {}} if line["k"] == "load_slice" else line)
    names = set()
    for number, run in enumerate((ideal_load(), few)):
        names |= {check.name for check in judge(load_of(run.write(tmp_path / str(number)))).result.validity.checks}
    assert documented_rules(repository, "### Of a request load") == names


def test_the_table_of_sessions_is_the_list_of_their_checks(repository: Path, tmp_path: Path) -> None:
    few = ideal_sessions()
    (one,) = (line for line in few.lines if line["k"] == "tj_session" and line["n"] == 0)
    many = few.adding(*(one | {"n": n} for n in range(100, 200)))
    names = set()
    for number, run in enumerate((few, many)):
        names |= {check.name for check in judge(sessions_of(run.write(tmp_path / str(number)))).result.validity.checks}
    assert documented_rules(repository, "### Of replayed sessions") == names


def test_the_table_of_rules_is_the_list_of_checks(repository: Path, tmp_path: Path) -> None:
    documented = documented_rules(repository, "## The rules")
    workloads = [profile(), profile(duration_seconds=4, bursts=[])]
    failing = profile(failures=[{"kind": "gone", "at_event": 100}])
    names = set()
    for number, workload in enumerate([*workloads, failing]):
        recorded = fold(ideal_run(workload).write(tmp_path / str(number)))
        names |= {check.name for check in judge(recorded).result.validity.checks}
    names = {"KIND exercised" if name == "gone exercised" else name for name in names}
    assert documented == names


def test_the_table_of_failures_names_every_predicate(repository: Path) -> None:
    text = (repository / "docs/concepts/validity.md").read_text()
    table = text.partition("## When a failure is shown")[2].partition("\n## ")[0]
    assert set(re.findall(r"^\| (\w+) \|", table, flags=re.M)) - {"failure"} == set(PREDICATES)
