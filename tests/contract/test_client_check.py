"""`perfq client check` on real clients: what fits is said, and what does not, with what was seen instead."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.contract.replay.running import LIST_AND_WATCH

pytestmark = pytest.mark.contract

#: A client that lists and watches Pods and draws a table that is not what its definition says.
STRANGE = """
schema: perfq.client/v1
name: strange
scopes:
  - {resource: pods}
  - {resource: nodes}
ready: 'q quit'
screen:
  required: [RESTARTZ]
  cursor: reverse
moves: {down: down, up: up}
scenarios:
  - {name: never, keys: "z", expect: 'no such screen'}
"""


def check(*arguments: str) -> tuple[int, dict[str, Any], str]:
    """Exit code, the document, stderr."""
    done = subprocess.run(
        [sys.executable, "-m", "perfq", "client", "check", "--json", "--quiet", "--duration", "4s", *arguments],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    return done.returncode, json.loads(done.stdout) if done.stdout else {}, done.stderr


def findings(document: dict[str, Any]) -> dict[str, bool | None]:
    return {one["what"]: one["fits"] for one in document["findings"]}


def test_the_reference_client_fits_its_definition() -> None:
    code, document, said = check("viewer")
    assert (code, document["fits"]) == (0, True), (document, said)
    found = findings(document)
    assert {"cursor", "key down", "key up", "event to screen", "scenario logs", "probe"} <= set(found)
    assert all(found.values())


@pytest.mark.long(45)
def test_what_does_not_fit_is_named_with_what_was_seen_instead(tmp_path: Path) -> None:
    definition = tmp_path / "strange.yaml"
    definition.write_text(STRANGE)
    # The headless client watches Pods, knows no nodes and draws no table.
    command = (sys.executable, "-m", "perfq.viewer.headless")
    code, document, _ = check(str(definition), "--", *command)
    assert (code, document["fits"]) == (3, False)
    found = findings(document)
    assert found["scope pods in all namespaces"] is True
    assert found["scope nodes in all namespaces"] is False
    assert (found["ready"], found["rows"], found["cursor"], found["scenario never"]) == (False, False, False, False)
    seen = {one["what"]: one["seen"] for one in document["findings"]}
    assert "pods in all namespaces" in seen["scope nodes in all namespaces"]
    assert "RESTARTZ" in seen["rows"]
    keys = {one["what"]: one["keys"] for one in document["findings"]}
    assert keys["scope nodes in all namespaces"] == ["scopes.1"]
    assert keys["scenario never"] == ["scenarios.0.expect", "scenarios.0.keys"]


@pytest.mark.long(35)
def test_a_client_whose_header_scrolls_away_is_told_of_append(tmp_path: Path) -> None:
    definition = tmp_path / "lines.yaml"
    definition.write_text("schema: perfq.client/v1\nname: lines\n")
    printing = "print('NAME RESTARTS')\nfor i in range(99): print(f'pod-{i:06} 0')\nfor _ in watch: pass"
    code, document, _ = check(str(definition), "--", sys.executable, "-c", LIST_AND_WATCH + printing)
    (rows,) = (one for one in document["findings"] if one["what"] == "rows")
    assert (code, rows["fits"], rows["keys"]) == (3, False, ["screen.append"])


def test_a_client_that_exits_at_once_is_said_to_have_ended(tmp_path: Path) -> None:
    code, document, _ = check("generic", "--", sys.executable, "-c", "print('no cluster'); raise SystemExit(3)")
    assert code == 3
    keys = ["command", "environment"]
    assert document["findings"][-1] == {"what": "runs", "keys": keys, "fits": False, "seen": "it ended (code 3)"}
    assert document["screen"][0] == "no cluster"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("viwer",), "did you mean viewer"),
        (("generic",), "names no command"),
        (("generic", "--", "no-such-program"), "no-such-program"),
    ],
)
def test_what_cannot_be_checked_is_a_usage_error(arguments: tuple[str, ...], said: str) -> None:
    code, document, stderr = check(*arguments)
    assert (code, document) == (2, {})
    assert said in stderr
    assert len(stderr.strip().splitlines()) == 1
