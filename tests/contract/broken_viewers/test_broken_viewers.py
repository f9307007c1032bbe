"""A client that mishandles a failure must not pass: each of these viewers has one method replaced by a bug, and
the table says how its run ends and where the result says why."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.contract.clients.builds import TOP
from tests.contract.replay.running import TRIES, too_busy

pytestmark = [pytest.mark.contract, pytest.mark.long(20)]

BROKEN = Path(__file__).resolve().parent / "broken.py"
VIEWER = TOP / "python" / "perfq" / "profiles" / "clients" / "viewer.yaml"
MISSED, INVALID = 3, 4


@dataclass(frozen=True)
class Case:
    """One broken viewer: the profile that shows it, the exit code, and the path in result.json with its value."""

    broken: str
    profile: str
    code: int
    path: str
    value: object
    #: The churn begins the failure after 5 s; `slow` lasts 10 s, and what is polled comes every 5 s.
    seconds: int = 10


TABLE = [
    Case("no-relist-after-410", "fail-gone-1k", MISSED, "replay.failures_injected.gone.shown", False),
    # The synthetic events of a watch at "any version" are no events that the server committed: it miscounts too.
    Case("watches-from-now-after-410", "fail-gone-1k", INVALID, "replay.failures_injected.gone.shown", False),
    Case("hammers-after-429", "fail-throttled-1k", MISSED, "replay.failures_injected.throttled.shown", False),
    Case("fans-out-after-403", "fail-forbidden-1k", MISSED, "replay.failures_injected.forbidden.shown", False),
    Case("blocks-on-slow", "fail-slow-1k", MISSED, "replay.failures_injected.slow.shown", False, 18),
    Case(
        "polls-faster-after-503",
        "fail-metrics_unavailable-1k",
        MISSED,
        "replay.failures_injected.metrics_unavailable.shown",
        False,
        16,
    ),
    Case(
        "stands-still-under-a-log", "fail-slow_logs-1k", MISSED, "replay.failures_injected.slow_logs.shown", False, 14
    ),
    # An event that was delivered and never seen: the two counts differ, so the run proves nothing.
    Case("swallows-one-event", "smoke-1k", INVALID, "validity.valid", False, 5),
    Case("renders-wrong-data", "smoke-1k", MISSED, "replay.digests.match", False, 5),
]


def client_file(folder: Path, case: Case) -> Path:
    """The viewer's own definition, with the broken program in its place."""
    document = yaml.safe_load(VIEWER.read_text())
    command = document["command"]
    at = command.index("perfq.viewer")
    document["command"] = [command[0], str(BROKEN), case.broken, *command[at + 1 :]]
    document["name"] = case.broken
    path = folder / "client.yaml"
    path.write_text(yaml.safe_dump(document))
    return path


def at_path(document: Any, dotted: str) -> object:
    for part in dotted.split("."):
        document = document[part]
    return document


def replayed(
    folder: Path, profile: str, seconds: int, client: list[str], *flags: str
) -> tuple[int, dict[str, Any], str]:
    """A replay's exit code, its result, and what it printed."""
    out = folder / "run"
    command = [sys.executable, "-m", "perfq", "replay", profile, *client]
    command += ["--preset", "correctness", "--out", str(out), "--duration", f"{seconds}s"]
    # As many samples as the predicates need, so that no run has to be extended for them.
    command += ["--pairs", "20", "--probes", "10", *flags]
    environment = {**os.environ, "PYTHONPATH": str(TOP / "python")}
    for _ in range(TRIES):
        shutil.rmtree(out, ignore_errors=True)
        ended = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=240, check=False)
        if not too_busy(ended.returncode, out):
            break
    printed = ended.stdout[-3000:] + ended.stderr[-3000:]
    assert (out / "result.json").exists(), printed
    return ended.returncode, json.loads((out / "result.json").read_text()), printed


@pytest.mark.parametrize("case", TABLE, ids=lambda case: case.broken)
def test_a_broken_viewer_does_not_pass(case: Case, tmp_path: Path) -> None:
    client = ["--client-file", str(client_file(tmp_path, case))]
    code, result, printed = replayed(tmp_path, case.profile, case.seconds, client, "--no-scenarios")
    assert code == case.code, printed
    assert at_path(result, case.path) == case.value, printed


@pytest.mark.parametrize("kind", ["gone", "throttled", "forbidden", "slow", "metrics_unavailable", "slow_logs"])
def test_the_viewer_as_it_is_handles_each_failure(kind: str, tmp_path: Path) -> None:
    """The counterpart: it is the replaced method alone that makes the difference. All scenarios are walked, too."""
    profile = f"fail-{kind}-1k"
    seconds = next(case.seconds for case in TABLE if case.profile == profile)
    code, result, printed = replayed(tmp_path, profile, seconds, ["--client", "viewer"])
    assert code == 0, printed
    failure = result["replay"]["failures_injected"][kind]
    assert (failure["injected"], failure["shown"]) == (1, True), printed
    assert failure["exercised"] >= 1
