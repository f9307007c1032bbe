"""report.md fits a pull request, whatever the run was like."""

from __future__ import annotations

from pathlib import Path

from tests.unit.synthetic import MS, T0, Line, ideal_run

from perfq.judge.verdict import judge
from perfq.measure.fold import fold
from perfq.profile.budget_file import preset
from perfq.report.markdown import markdown

#: A comment on the largest forge may have this many characters.
LIMIT = 65_536


def test_five_hundred_scopes_and_forty_failed_scenarios_still_fit(tmp_path: Path) -> None:
    fields = {"group": "", "kind": "pods", "name": "", "sub": "", "class": "api", "status": 200, "bytes": 1}
    page = {"objects": 1, "page": 1, "more": False, "retry_after": None, "ua": "v", "conn": 1}
    lists: list[Line] = [
        {"k": "req", "t": T0 - MS, "done": T0, "verb": "list", "scope": f"bench-{i:04d}", **fields, **page}
        for i in range(500)
    ]
    screen = "\n".join("x" * 160 for _ in range(50))
    scenarios: list[Line] = [
        {"k": "scenario", "t": T0, "name": f"s{i}", "ok": False, "screen": screen, "done": T0 + MS} for i in range(40)
    ]
    run = ideal_run().adding(*lists, *scenarios).budgeted(*preset("client-1k"))
    text = markdown(judge(fold(run.write(tmp_path / "run"))).result)
    assert len(text) < LIMIT
    assert "more in result.json" in text
