"""docs/concepts/validity.md names every rule that a run can be judged by, and no other."""

from __future__ import annotations

import re
from pathlib import Path

from tests.unit.synthetic import ideal_run, profile

from perfq.judge.verdict import judge
from perfq.measure.failures.predicates import PREDICATES
from perfq.measure.fold import fold


def test_the_table_of_rules_is_the_list_of_checks(repository: Path, tmp_path: Path) -> None:
    text = (repository / "docs/concepts/validity.md").read_text()
    table = text.partition("## The rules")[2].partition("\n## ")[0]
    documented = set()
    for row in re.findall(r"^\| ([^|]+) \|", table, flags=re.M):
        documented |= {name.strip() for name in re.split(r"[(),]| below 100 events", row) if name.strip()}
    documented -= {"rule"}
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
