"""`perfq client check`: what fits is said to fit, what does not is named, on a real client."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.contract


def check(*arguments: str) -> tuple[int, dict[str, bool | None]]:
    """Exit code, and what was found of each thing that the definition declares."""
    done = subprocess.run(
        [sys.executable, "-m", "perfq", "client", "check", "--json", "--quiet", "--duration", "4s", *arguments],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode in (0, 3, 4), done.stderr
    return done.returncode, {one["what"]: one["fits"] for one in json.loads(done.stdout)["findings"]}


def test_the_viewers_own_definition_fits_it() -> None:
    code, found = check("viewer")
    assert code == 0
    assert (
        found.items()
        >= {
            "ready": True,
            "scope pods": True,
            "scope nodes": True,
            "rows": True,
            "cells": True,
            "cursor": True,
            "probe": True,
        }.items()
    )


def test_what_a_definition_gets_wrong_is_named(tmp_path: Path) -> None:
    listed = subprocess.run(
        [sys.executable, "-m", "perfq", "client", "list", "--json"], capture_output=True, text=True, check=True
    ).stdout
    definition = next(one for one in json.loads(listed) if one["name"] == "viewer")
    definition["scenarios"] = [{"name": "help", "keys": "?", "expect": "no such words", "back": "<esc>"}]
    wrong = tmp_path / "wrong.json"
    wrong.write_text(json.dumps(definition))
    code, found = check(str(wrong))
    assert code == 3
    assert found["scenario help"] is False
    assert found["rows"] is True
