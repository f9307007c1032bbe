"""Plans played on this machine: with its cgroups, its journal and its audits; and nothing left, however they end."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.unit.trajectory.plans import command, plan, wait
from tests.unit.trajectory.runs import Runs

from perfq.errors import GuardRefused, UsageError
from perfq.profile.trajectory.trajectory import Trajectory
from perfq.trajectory.cgroup import places
from perfq.trajectory.ground import refuse
from perfq.trajectory.local.processes import Owner, belonging
from perfq.trajectory.plan import Session, SessionPlan


def test_every_audit_of_a_sound_run_passes_and_nothing_is_left(grouped: Runs) -> None:
    played = grouped.play(plan(*[[command("echo a > f"), wait(20), command("cat f", "d")]] * 3))
    assert {lived.fate for lived in played.outcome.sessions} == {"completed"}
    assert (played.left, played.said, grouped.audits("fail"), grouped.audits("unknown")) == ([], [], [], [])
    names = {name for _, name in grouped.audits("pass")}
    assert names == {
        "steps_accounted",
        "processes_gone",
        "cgroup_empty",
        "no_mounts",
        "workspace_removed",
        "no_oom",
        "no_swap",
        "sampler_drained",
        "no_sample_after_stop",
        "journal_closed",
    }
    assert grouped.left() == []


def test_the_kernel_s_counters_of_every_session_and_of_the_run_are_in_the_record(grouped: Runs) -> None:
    grouped.play(plan(*[[command("head -c 10000000 /dev/zero > f")]] * 2))
    counted = {line["n"]: line for line in grouped.of("tj_counters")}
    assert set(counted) == {0, 1, None}
    assert counted[None]["cpu_ns"] >= counted[0]["cpu_ns"] > 0
    if counted[0]["memory_peak"] is not None:
        assert counted[None]["memory_peak"] >= counted[0]["memory_peak"] > 0


def test_launching_a_command_counts_as_initialization_and_the_identity_closes(grouped: Runs) -> None:
    played = grouped.play(plan([command("true"), command("true", "d")]))
    lived = played.outcome.sessions[0]
    started = [line["started"] - line["issued"] for line in grouped.of("tj_command")]
    assert lived.launch_ns == sum(started) > 0
    assert lived.closed


def test_waits_of_frozen_sessions_are_kept_in_full_and_they_run_on_afterwards(grouped: Runs) -> None:
    played = grouped.play(
        plan(
            [command("(while :; do date >> ticks; done) &"), wait(300), command("wc -l ticks", "d")],
            wait={"mode": "freeze"},
        )
    )
    assert played.outcome.sessions[0].fate == "completed"
    waited = grouped.of("tj_wait")[0]
    assert waited["due"] - waited["sleep_begin"] == 300_000_000
    assert waited["woken"] >= waited["due"]
    assert waited["pause_begin"] < waited["pause_end"] <= waited["resume_begin"] < waited["resume_end"]
    assert grouped.audits("fail") == []


def test_a_stop_in_a_frozen_wait_leaves_nothing_frozen_and_nothing_behind(grouped: Runs) -> None:
    planned = plan(*[[command("sleep 600 &"), wait(600_000)]] * 3, wait={"mode": "freeze"})
    played = grouped.play(planned, grouped.frozen)
    assert {lived.fate for lived in played.outcome.sessions} == {"cancelled"}
    assert played.left == []
    assert grouped.left() == []


def test_scripts_of_others_and_pauses_that_are_not_there_are_refused_before_anything_starts(runs: Runs) -> None:
    ours = plan([command("true")])
    session = ours.sessions[0]
    document = session.trajectory.model_dump(by_alias=True, exclude_unset=True)
    foreign = Trajectory.model_validate({**document, "source": {"format": "mini-swe-agent-1.1"}})
    planned = SessionPlan(ours.profile, [Session(0, foreign, session.path, 0)])
    with pytest.raises(GuardRefused):
        refuse(planned)
    assert runs.play(planned, allowed=True).outcome.sessions[0].fate == "completed"
    with pytest.raises(UsageError, match="no commands"):
        refuse(plan([wait(1)], wait={"mode": "offload"}))


def test_a_workspace_that_cannot_be_removed_fails_its_audit_and_is_named(
    grouped: Runs, need: Callable[[bool, str], None]
) -> None:
    need(os.geteuid() == 0, "only root may mount")
    played = grouped.play(plan([command("mkdir m && mount -t tmpfs none m")]))
    try:
        need(grouped.of("tj_command")[0]["exit_code"] == 0, "mounting is not allowed here")
        assert set(grouped.audits("fail")) == {(0, "no_mounts"), (0, "workspace_removed"), (None, "journal_closed")}
        assert [Path(name).name for name in played.left] == ["session-0"]
        assert played.outcome.sessions[0].fate == "failed"
    finally:
        for mounted in grouped.top.glob("perfq-sessions-*/*/session-0/m"):
            subprocess.run(["umount", str(mounted)], check=False)
    later = grouped.play(plan([command("true")]))
    assert "was killed" not in "".join(later.said)
    assert len(later.said) == 1
    assert grouped.left() == []


def test_a_cgroup_that_vanishes_in_mid_run_is_an_unknown_audit_and_a_failed_session(grouped: Runs) -> None:
    def vanish() -> bool:
        for top in grouped.groups():
            for below in sorted(top.glob("session-0/*/"), reverse=True):
                if below.is_dir():
                    below.rmdir()
            for one in top.glob("session-0"):
                one.rmdir()
        return False

    gone: list[bool] = []

    def once() -> bool:
        if grouped.of("tj_command") and not gone:
            gone.append(vanish())
        return False

    played = grouped.play(plan([command("true"), wait(200), command("true", "d")]), once)
    assert [line["outcome"] for line in grouped.of("tj_command")] == ["done", "failed_to_start"]
    assert (0, "cgroup_empty") in grouped.audits("unknown")
    assert played.outcome.sessions[0].fate == "failed"
    assert grouped.left() == []


HARNESS = """
import asyncio, sys, tempfile
tempfile.tempdir = sys.argv[1]
from tests.unit.trajectory.plans import command, plan, wait
from tests.unit.trajectory.runs import played
from perfq.trajectory.places import Place
steps = [command("setsid sleep 600 & sleep 600 & head -c 1000 /dev/zero > f"), wait(600_000)]
write = lambda line: print(line["k"], flush=True)
planned = plan(*[steps] * int(sys.argv[2]), wait={"mode": sys.argv[3]})
asyncio.run(played(planned, Place.of("killed"), write, asyncio.Event()))
"""


@pytest.mark.parametrize(
    ("sessions", "mode", "seen"), [(6, "idle", 1), (6, "idle", 4), (6, "freeze", 6), (50, "idle", 50)]
)
def test_what_a_killed_harness_left_is_swept_at_the_next_start_and_its_journal_closed(
    grouped: Runs, sessions: int, mode: str, seen: int
) -> None:
    argv = [sys.executable, "-c", HARNESS, str(grouped.top), str(sessions), mode]
    with subprocess.Popen(argv, stdout=subprocess.PIPE, text=True) as harness:
        assert harness.stdout is not None
        running = 0
        for line in harness.stdout:
            running += line == "tj_command\n"
            if running == seen:
                break
        while mode == "freeze" and not grouped.frozen():
            time.sleep(0.01)
        os.kill(harness.pid, signal.SIGKILL)
    killed = grouped.names
    assert len(killed) == 1
    assert len(grouped.left()) > 3
    later = grouped.play(plan([command("true")]))
    assert len(later.said) == 1
    assert later.said[0].startswith(f"run {killed[0]} was killed: ")
    assert grouped.left() == []
    assert not any(belonging(Owner(f"PERFQ_SESSION={killed[0]}/{n}")) for n in range(sessions))
    assert not [path for one in places.own().values() for path in one.folder.glob(f"perfq-{killed[0]}")]


def test_without_cgroups_it_is_said_and_what_left_every_trace_is_adopted_found_and_ended(
    runs: Runs, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(places, "own", dict)
    away = "setsid env -i sh -c 'echo $$ > pid; sleep 600' >/dev/null 2>&1 & while ! [ -s pid ]; do sleep 0.01; done"
    planned = plan([command(f"{away}; cat pid"), wait(20)], command={"max_output_bytes": 99})
    played = runs.play(planned)
    assert played.said == ["cgroups: no cgroups are mounted here"]
    assert played.outcome.sessions[0].fate == "completed"
    assert (runs.audits("fail"), runs.audits("unknown")) == ([], [])
    assert (None, "processes_gone") in runs.audits("pass")
    assert not [one for one in Path("/proc").glob("[0-9]*/cwd") if os.path.realpath(one).startswith(str(runs.top))]
    assert runs.left() == []


def test_freezing_and_a_memory_budget_are_refused_where_there_are_no_cgroups(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(places, "own", dict)
    with pytest.raises(UsageError, match="no cgroup to freeze: no cgroups are mounted here"):
        refuse(plan([wait(1)], wait={"mode": "freeze"}))
    with pytest.raises(UsageError, match="budget_bytes is set, but the memory"):
        refuse(plan([wait(1)], admission={"budget_bytes": 1 << 30}))


def test_what_a_recording_says_of_its_surroundings_and_the_backend_leaves_undone_is_said(runs: Runs) -> None:
    ours = plan([command("true")], [command("true")])
    session = ours.sessions[0]
    document = session.trajectory.model_dump(by_alias=True, exclude_unset=True)
    limited = Trajectory.model_validate({**document, "environment": {"resources": {"cpu_millis": 500}}})
    played = runs.play(SessionPlan(ours.profile, [Session(0, limited, session.path, 0), ours.sessions[1]]))
    assert "environment.resources of 1 sessions: the backend local holds nobody to them" in played.said


def test_a_session_out_of_memory_fails_its_audit_by_the_kernel_s_count(
    grouped: Runs, need: Callable[[bool, str], None]
) -> None:
    limited: list[Path] = []

    def limit() -> bool:
        names = ("memory.limit_in_bytes", "memory.max")
        files = [file for top in grouped.groups() for name in names for file in top.glob(f"session-0/{name}")]
        workspaces = list(grouped.top.glob("perfq-sessions-*/*/session-0"))
        if files and workspaces and not limited:
            files[0].write_text("20000000")
            limited.append(files[0])
            (workspaces[0] / "go").touch()
        return False

    wait_for_it = "for i in $(seq 500); do [ -e go ] && break; sleep 0.01; done"
    grouped.play(
        plan([command(f"{wait_for_it}; [ -e go ] && head -c 100000000 /dev/zero | tail -c 90000000 >/dev/null")]), limit
    )
    need(bool(limited), "there is no memory controller for groups of ours")
    assert (0, "no_oom") in grouped.audits("fail")
    assert [line["oom"] for line in grouped.of("tj_counters") if line["n"] == 0] == [1]
