"""`perfq trajectory search`: the number that is found is the one that fits."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from perfq.cli import cli
from perfq.errors import UsageError

SLOTS = 3
#: Takes one of the slots, or is late; there is no other limit than their number.
TAKE = (
    "for i in {slots}; do mkdir {folder}/$i 2>/dev/null && echo $i > slot && exit 0; done; sleep 60",
    "test ! -f slot || rmdir {folder}/$(cat slot)",
)


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "temporary").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))


@pytest.fixture
def profile(tmp_path: Path) -> Path:
    """Sessions that each hold one of SLOTS slots while they live."""
    folder = tmp_path / "slots"
    folder.mkdir()
    take, give = (text.format(folder=folder, slots=" ".join(map(str, range(SLOTS)))) for text in TAKE)
    steps: list[dict[str, Any]] = [
        {"kind": "exec", "id": "take", "script": take},
        {"kind": "wait", "wait_ms": 200},
        {"kind": "exec", "id": "give", "script": give},
    ]
    session = {"schema": "perfq.trajectory/v1", "id": "s", "environment": {"shell": ["sh", "-c"]}, "steps": steps}
    (tmp_path / "s.json").write_text(json.dumps(session))
    document = {
        "schema": "perfq.trajectory-profile/v1",
        "name": "slots",
        "trajectories": [{"path": "s.json"}],
        "arrivals": {"mode": "explicit", "offsets_ms": [0]},
        "command": {"timeout_ms": 1000, "term_grace_ms": 50, "clean_timeout_ms": 2000},
        "sampling": {"mode": "off"},
    }
    path = tmp_path / "slots.json"
    path.write_text(json.dumps(document))
    return path


def run(*arguments: str | Path) -> Result:
    """The command in this process; its exceptions come through."""
    return CliRunner().invoke(
        cli, ["trajectory", "search", *map(str, arguments)], catch_exceptions=False, standalone_mode=False
    )


def test_the_number_that_fits_is_found_and_confirmed(profile: Path, tmp_path: Path) -> None:
    done = run(profile, "--hi", "8", "--out", tmp_path / "out", "--quiet", "--run-id", "slots")
    document = json.loads((tmp_path / "out" / "search.json").read_text())
    assert (done.return_value, document["found"], document["at_least"]) == (0, SLOTS, False)
    held = {step["sessions"]: step["held"] for step in document["steps"] if step["status"] != "INVALID"}
    assert (held[SLOTS], held[SLOTS + 1]) == (True, False)
    confirmed = [step for step in document["steps"] if step["why"] == "confirm" and step["held"]]
    assert [step["sessions"] for step in confirmed] == [SLOTS] * 3
    late = next(step for step in document["steps"] if step["sessions"] == SLOTS + 1)
    assert late["reasons"] == ["budget missed: trajectory.timeouts.cleaned: 1, limit <= 0"]
    assert f"{SLOTS} sessions at once fit, confirmed" in done.stdout
    assert (tmp_path / "out" / "step-01" / "report.md").is_file()


def test_a_number_that_could_not_be_at_once_does_not_hold(profile: Path, tmp_path: Path) -> None:
    pace = ("--set", "launch.interval_ms=400", "--lo", "2", "--hi", "2")
    done = run(profile, *pace, "--out", tmp_path / "out", "--quiet", "--json")
    document = json.loads(done.stdout)
    assert (done.return_value, document["found"]) == (3, None)
    assert document["why"] == "not even 2 sessions held"
    assert document["steps"][0]["reasons"] == ["budget missed: trajectory.peak_concurrency: 1, limit >= 2"]


def test_a_range_that_is_none_is_refused(profile: Path, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="--lo: got 5, expected at most --hi, 4"):
        run(profile, "--lo", "5", "--hi", "4", "--out", tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_the_time_is_of_all_steps_together(profile: Path, tmp_path: Path) -> None:
    done = run(profile, "--hi", "8", "--max-time", "900ms", "--out", tmp_path / "out", "--quiet", "--json")
    document = json.loads(done.stdout)
    assert (done.return_value, document["found"]) == (4, None)
    assert document["why"] == "stopped by max-time: limit 0.9 s"
    assert document["steps"][-1]["status"] == "ABORTED"
