"""The same profile as processes of this machine and in a real sandbox, side by side."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.contract.trajectory.running import EXAMPLES, Machine

pytestmark = pytest.mark.contract

STEPS: list[dict[str, Any]] = [
    {"kind": "exec", "id": "write", "script": "echo hello > note; cat note"},
    {"kind": "wait", "wait_ms": 200},
    {"kind": "exec", "id": "read", "script": "grep -q hello note"},
]


@pytest.fixture
def sandboxed(need_program: Callable[[str], str], need: Callable[[bool, str], None]) -> dict[str, Any]:
    """The backend of docs/examples/trajectory/bubblewrap.sh."""
    for program in ("bwrap", "nsenter", "setpriv"):
        need_program(program)
    need(os.geteuid() == 0, "bubblewrap.sh needs root")
    script = str(EXAMPLES / "bubblewrap.sh")
    argvs = {f"{name}_argv": [script, name] for name in ("launch", "stop", "pause", "resume")}
    return {"kind": "command", **argvs, "exec_argv": [script, "exec", "{workdir}", "{script}"]}


def test_two_runtimes_are_put_side_by_side(sandboxed: dict[str, Any], tmp_path: Path) -> None:
    machine = Machine(tmp_path)
    for name, backend in (("local", {"kind": "local"}), ("sandbox", sandboxed)):
        # The same profile by name and sessions; only what it runs in differs.
        profile = machine.profile("both", 4, STEPS, admission={"max_concurrent": 2}, backend=backend)
        done = machine.run("run", profile, "--out", name, "--quiet")
        assert done.returncode in (0, 4), done.stderr
        block = json.loads((tmp_path / name / "result.json").read_text())["trajectory"]
        assert (block["sessions"]["completed"], block["commands"]["nonzero"]) == (4, 0)
        assert (block["audits"]["failed"], block["audits"]["unknown"]) == (0, 0)
        assert block["identity"]["closed"] is True
    document = json.loads(machine.run("report", "local", "sandbox", "--format", "json").stdout)
    assert document["differences"] == ["backend: local | command"]
    reasons = [reason for reason in document["not_comparable"] if " is INVALID" not in reason]
    assert reasons == ["one run each: without a spread a difference may be chance"]
    text = machine.run("report", "local", "sandbox").stdout
    assert text.splitlines()[0].split() == ["local", "sandbox"]
    assert "They differ in:\n  backend: local | command" in text
    assert machine.left() == []
