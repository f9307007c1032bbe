"""What a load creates: a second run of the same profile does not meet the objects of the first."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.contract.load.running import EXAMPLES, command

from perfq import _core
from perfq.drive.kubeconfig import CONTEXT, write_kubeconfig
from perfq.profile.workload import resolve_profile

pytestmark = pytest.mark.contract


def test_two_runs_of_one_profile_on_one_server_have_the_same_plan_and_names_of_their_own(tmp_path: Path) -> None:
    plan = _core.Plan(resolve_profile("smoke-1k").to_json())
    config = tmp_path / "kubeconfig"
    flags = ("--context", CONTEXT, "--kubeconfig", str(config), "--yes")
    with _core.ApiServer.start({"plan": plan, "recorder": None, "start": "never"}) as server:
        write_kubeconfig(config, url=server.url, ca_pem=server.ca_pem, token=server.token)
        for out in (tmp_path / "first", tmp_path / "second"):
            ended = command("run", str(EXAMPLES / "post-del.yaml"), "--out", str(out), *flags, out=out)
            assert ended.code in (0, 4), ended.explain()  # 4: a busy machine was late; what was sent is sent
            assert ended.result["load"]["errors"] == {}
            assert ended.result["load"]["ok"] == 50
    first, second = (json.loads((tmp_path / name / "plan.json").read_text()) for name in ("first", "second"))
    assert first == second
