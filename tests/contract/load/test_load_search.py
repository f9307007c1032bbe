"""The highest rate that a server in another process holds."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from tests.contract.deadline import wait_for
from tests.contract.load.running import TOP, TRIES, Ended, command, start, was_late

pytestmark = [pytest.mark.contract, pytest.mark.paced]

PROFILE = """
version: 1
specs:
  - rate: 100
    duration: 5
    conns: 7
    client: 64
    requests:
      - staleGet: {version: v1, resource: pods, namespace: bench-0000, name: pod-000000}
        shares: 1
"""


@contextmanager
def served(folder: Path, *arguments: str) -> Iterator[Path]:
    """`perfq serve` in a process of its own; its kubeconfig, once it is up."""
    kubeconfig = folder / "kubeconfig"
    process = subprocess.Popen(
        [sys.executable, "-m", "perfq", "serve", "smoke-1k", "--kubeconfig-out", str(kubeconfig), *arguments],
        env={**os.environ, "PYTHONPATH": str(TOP / "python")},
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    try:
        assert process.stdout is not None
        assert process.stdout.readline().strip() == str(kubeconfig)
        yield kubeconfig
    finally:
        process.send_signal(signal.SIGINT)
        process.wait(30)


def searched(folder: Path, attempt: Callable[[Path], Ended]) -> tuple[Ended, dict[str, Any]]:
    """A search to its end, and its document; once more where the machine was too busy for a step to prove anything."""
    for number in range(TRIES):
        ended = attempt(folder / f"search-{number}")
        assert (ended.out / "search.json").exists(), ended.explain()
        steps = [json.loads(path.read_text()) for path in ended.out.glob("step-*/result.json")]
        if ended.code == 0 or not any(map(was_late, steps)):
            break
    return ended, json.loads((ended.out / "search.json").read_text())


def search(folder: Path, *arguments: str, of: str = PROFILE) -> tuple[Ended, dict[str, Any]]:
    """The same by the command with these arguments."""
    profile = folder / "reads.yaml"
    profile.write_text(of)
    return searched(folder, lambda out: command("search", str(profile), "--out", str(out), *arguments, out=out))


@pytest.mark.long(57)
def test_the_limit_of_a_server_is_found_and_nothing_above_hi_is_asked(tmp_path: Path) -> None:
    limit = random.Random().randint(200, 500)
    with served(tmp_path, "--limit", f"{limit}/s") as kubeconfig:
        ended, document = search(
            tmp_path,
            *("--lo", "100/s", "--hi", "1k/s", "--step", "4s", "--json", "--quiet"),
            *("--context", "perfq", "--kubeconfig", str(kubeconfig)),
        )
    assert ended.code == 0, ended.explain()
    assert document == json.loads(ended.stdout)
    assert abs(document["found"] / limit - 1) <= 0.05, (limit, document)
    assert document["highest_asked"] <= 1_000
    for step in document["steps"]:
        result = json.loads((ended.out / step["run"] / "result.json").read_text())
        assert result["load"]["requested_rate"] == pytest.approx(step["rate"], rel=1e-6)
    assert [step["why"] for step in document["steps"] if step["held"]][-3:] == ["confirm"] * 3


def test_a_rate_that_does_not_hold_at_lo_is_exit_code_3(tmp_path: Path) -> None:
    steps = ("--lo", "50/s", "--hi", "100/s", "--step", "3s")
    ended, _ = search(tmp_path, *steps, "--budget", "latency.service.p99<=1ns")
    assert ended.code == 3, ended.explain()
    assert "no rate was found: not even 50/s held" in ended.stdout


def test_max_time_is_of_the_whole_search_and_what_was_tried_is_kept(tmp_path: Path) -> None:
    ended, document = search(tmp_path, "--lo", "20/s", "--hi", "1k/s", "--step", "3s", "--max-time", "5s")
    assert ended.code == 4, ended.explain()
    assert document["why"] == "stopped by max-time: limit 5 s"
    # Not tried again: it was asked to end.
    assert [step["status"] for step in document["steps"]] == ["PASS", "ABORTED"]
    assert (document["exit_code"], document["found"]) == (4, None)


def under_way(folder: Path, out: Path, *arguments: str) -> subprocess.Popen[str]:
    """A search between 20 and 100 requests/s in steps of three seconds, started."""
    profile = folder / "reads.yaml"
    profile.write_text(PROFILE)
    steps = ("--lo", "20/s", "--hi", "100/s", "--step", "3s")
    return start("search", str(profile), *steps, "--out", str(out), *arguments)


def test_a_target_that_falls_ends_the_search_with_the_steps_so_far(tmp_path: Path) -> None:
    def attempt(out: Path) -> Ended:
        with served(tmp_path) as kubeconfig:
            process = under_way(tmp_path, out, "--context", "perfq", "--kubeconfig", str(kubeconfig))
            assert wait_for((out / "step-01" / "result.json").exists)
        stdout, stderr = process.communicate(timeout=60)
        return Ended(process.returncode, stdout, stderr, out)

    ended, document = searched(tmp_path, attempt)
    assert ended.code == document["exit_code"] == 7, ended.explain()
    assert document["steps"][0]["held"] is True
    assert "no rate was found: at " in ended.stdout


def test_errors_are_judged_beside_other_budgets(tmp_path: Path) -> None:
    """Nothing of the profile is there: each answer is a fast 404."""
    steps = ("--lo", "50/s", "--hi", "100/s", "--step", "3s")
    absent = PROFILE.replace("pod-000000", "no-such-pod")
    ended, _ = search(tmp_path, *steps, "--budget", "latency.response.p99<=10s", of=absent)
    assert ended.code == 3, ended.explain()
    assert "not even 50/s held" in ended.stdout


def test_standard_input_can_be_searched(tmp_path: Path) -> None:
    flags = ["--lo", "50/s", "--hi", "50/s", "--step", "3s", "--confirmations", "1", "--quiet", "--json"]

    def attempt(out: Path) -> Ended:
        done = subprocess.run(
            [sys.executable, "-m", "perfq", "load", "search", "-", *flags, "--out", str(out)],
            input=PROFILE,
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
        )
        return Ended(done.returncode, done.stdout, done.stderr, out)

    ended, _ = searched(tmp_path, attempt)
    assert ended.code == 0, ended.explain()
    assert json.loads(ended.stdout)["input"] == "<stdin>"


def test_an_interrupt_ends_the_search_with_the_steps_so_far(tmp_path: Path) -> None:
    def attempt(out: Path) -> Ended:
        process = under_way(tmp_path, out)
        assert wait_for((out / "step-02" / "samples.ndjson").exists)
        process.send_signal(signal.SIGINT)
        stdout, stderr = process.communicate(timeout=60)
        return Ended(process.returncode, stdout, stderr, out)

    ended, document = searched(tmp_path, attempt)
    assert ended.code == document["exit_code"] == 130, ended.explain()
    assert [step["status"] for step in document["steps"]] == ["PASS", "ABORTED"]
    assert "no rate was found: stopped by SIGINT" in ended.stdout
