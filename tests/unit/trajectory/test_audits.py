"""Exit audits: what is looked at is passed or failed with its evidence, and what cannot be is unknown."""

from __future__ import annotations

from pathlib import Path

import pytest

from perfq.trajectory import audits
from perfq.trajectory.cgroup.counters import Counters
from perfq.trajectory.cgroup.group import Group
from perfq.trajectory.cgroup.places import Hierarchy
from perfq.trajectory.local.machine import MachineCounts
from perfq.trajectory.process import Process

GROUP = Group({"freezer": Hierarchy(1, Path("/g"))})


@pytest.mark.parametrize(
    ("outcomes", "cut", "why", "status"),
    [
        (["done", "waited", "done"], False, None, "pass"),
        (["done", "unknown", "done"], False, None, "unknown"),
        (["done"], True, "the run was stopped", "pass"),
        (["done", "failed_to_start"], False, "step 1: failed_to_start", "pass"),
        (["done"], False, None, "fail"),
        (["done", "waited"], True, None, "fail"),
    ],
)
def test_each_step_has_an_end_or_a_reason_why_it_has_none(
    outcomes: list[str], cut: bool, why: str | None, status: str
) -> None:
    audit = audits.steps_accounted(3, outcomes, cut, why)
    assert (audit.name, audit.status) == ("steps_accounted", status)
    assert f"{len(outcomes)} of 3 ended" in audit.evidence
    assert why is None or why in audit.evidence


def test_processes_that_run_fail_and_without_a_cgroup_nobody_knows_unless_perfq_adopts() -> None:
    left = [Process(7, 1), Process(8, 1)]
    assert audits.processes_gone(left, "A=b", GROUP) == audits.Audit(
        "processes_gone", "fail", "processes 7, 8 still run"
    )
    assert audits.processes_gone([], "A=b", GROUP).status == "pass"
    assert audits.processes_gone([], "A=b", None).status == "unknown"
    assert audits.processes_gone([], "A=b", None, adopted=True).status == "pass"
    assert (audits.orphans_gone([]).status, audits.orphans_gone(left).status) == ("pass", "fail")


def test_a_sandbox_that_cannot_be_seen_is_unknown_whatever_its_stop_says() -> None:
    assert audits.sandbox_gone([], provable=False, why=None).status == "unknown"
    assert audits.sandbox_gone([], provable=True, why="stop_argv: it ended with exit code 1").status == "pass"
    assert audits.sandbox_gone([Process(7, 1)], provable=True, why=None).status == "fail"


def test_a_cgroup_that_vanished_is_unknown_and_one_that_stays_fails() -> None:
    assert audits.cgroup_empty(GROUP, True, []).status == "unknown"
    assert audits.cgroup_empty(GROUP, False, ["cannot remove the cgroup /g: busy"]).status == "fail"
    assert audits.cgroup_empty(GROUP, False, []).status == "pass"


@pytest.mark.parametrize(("count", "status"), [(None, "unknown"), (0, "pass"), (1, "fail")])
def test_oom_and_swap_are_as_the_kernel_counted_them_for_the_group(count: int | None, status: str) -> None:
    assert audits.no_oom(Counters(oom=count)).status == status
    assert audits.no_swap(Counters(swap=count)).status == status


@pytest.mark.parametrize(("count", "status"), [(None, "unknown"), (0, "pass"), (1, "unknown")])
def test_the_machine_s_counts_may_prove_that_there_was_none_and_never_whose_it_was(
    count: int | None, status: str
) -> None:
    assert audits.no_oom_anywhere(count).status == status
    assert audits.no_swap_anywhere(count).status == status


def test_a_sample_after_the_stop_fails(tmp_path: Path) -> None:
    assert audits.no_sample_after_stop(11, 10).status == "fail"
    assert audits.no_sample_after_stop(10, 10).status == "pass"
    assert audits.no_sample_after_stop(None, 10).status == "pass"
    assert audits.sampler_drained(None, "").status == "unknown"
    assert audits.workspace_removed(tmp_path, None).status == "fail"
    assert audits.no_mounts(tmp_path, ["/m"]).status == "fail"


def test_the_machine_s_counts_are_differences_and_what_is_missing_stays_missing(tmp_path: Path) -> None:
    vmstat = tmp_path / "vmstat"
    vmstat.write_text("nr_free_pages 5\noom_kill 3\n")
    assert MachineCounts.now(vmstat).since(MachineCounts(1, 4)) == MachineCounts(2, None)
    assert MachineCounts.now(tmp_path / "nowhere") == MachineCounts(None, None)
