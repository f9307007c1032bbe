"""`perfq replay --allocations`: a run as without it, and a traced one beside it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.contract.replay.running import Ended, replay

pytestmark = pytest.mark.contract


@pytest.mark.long(20)
def test_a_second_linked_run_says_where_the_viewers_memory_grows(tmp_path: Path) -> None:
    ended = replay(tmp_path / "run", "smoke-1k", "--duration", "3s", "--no-scenarios", "--allocations")
    assert ended.code == 0, ended.explain()
    traced = Ended(0, ended.text, ended.out / "allocations")
    for run, where in ((ended, "allocations/"), (traced, "../")):
        (link,) = [one["text"] for one in run.result["warnings"] if one["code"] == "linked_run"]
        assert where in link
    assert ended.result["allocations"] is None
    found = json.loads((traced.out / "allocations.json").read_text())
    assert found == traced.result["allocations"]
    assert found["traced_bytes"] > 1 << 20
    assert any("perfq/viewer" in one["file"] or "textual" in one["file"] for one in found["growth"])
    assert "## Allocation growth" in (traced.out / "report.md").read_text()
    assert json.loads((traced.out / "manifest.json").read_text())["options"]["allocations"] is True


@pytest.mark.parametrize("asked", [("--repeat", "2"), ("--", "true")])
def test_what_cannot_be_traced_is_refused_before_anything_starts(tmp_path: Path, asked: tuple[str, ...]) -> None:
    ended = replay(tmp_path / "run", "smoke-1k", "--allocations", *asked)
    assert ended.code == 2, ended.explain()
    assert "--allocations" in ended.text
    assert not ended.out.exists()
