"""The record of replayed sessions → the `trajectory` block: every figure, null with a reason where there is none."""

from __future__ import annotations

from pathlib import Path

from tests.unit.synthetic_sessions import (
    EXEC,
    EXTRA,
    INIT,
    MS,
    PER_WAVE,
    PLANNED,
    SECOND,
    SESSIONS,
    T0,
    TEARDOWN,
    SyntheticSessions,
    ideal_sessions,
    sessions_of,
)

from perfq.measure.result.trajectory import AuditFigures, Trajectory

WHOLE = INIT + EXEC + PLANNED + EXTRA + TEARDOWN


def block(run: SyntheticSessions, tmp_path: Path) -> Trajectory:
    return sessions_of(run.write(tmp_path / "run")).trajectory


def reasons(run: SyntheticSessions, tmp_path: Path) -> dict[str | None, str]:
    recorded = sessions_of(run.write(tmp_path / "run"))
    return {one.field: one.text for one in recorded.warnings}


def test_every_figure_of_an_ideal_run_is_known(tmp_path: Path) -> None:
    one = block(ideal_sessions(), tmp_path)
    assert one.makespan_ns == 2 * SECOND + WHOLE
    assert (one.extra_wait_ns.mean, one.extra_wait_ns.max) == (EXTRA, EXTRA)
    assert (one.init_ns.mean, one.exec_ns_mean, one.teardown_ns.max) == (INIT, EXEC, TEARDOWN)
    assert one.peak_concurrency == PER_WAVE
    assert (one.sessions.planned, one.sessions.completed, one.sessions.failed) == (SESSIONS, SESSIONS, 0)
    assert (one.commands.planned, one.commands.completed, one.commands.not_issued) == (2 * SESSIONS, 2 * SESSIONS, 0)
    assert (one.waits.count, one.waits.planned_ns, one.waits.lateness_ns.max) == (SESSIONS, SESSIONS * PLANNED, EXTRA)
    assert (one.scheduler_delay_ns.p50, one.scheduler_delay_ns.p99, one.scheduler_delay_ns.max) == (MS, 3 * MS, 3 * MS)
    assert (one.identity.closed, one.identity.worst_ns, one.identity.open) == (True, 0, 0)
    assert (one.audits.passed, one.audits.failed, one.audits.unknown) == (2 * SESSIONS, 0, 0)


def test_what_nobody_recorded_is_null_with_its_reason(tmp_path: Path) -> None:
    why = reasons(ideal_sessions(), tmp_path)
    assert why["/trajectory/sampling"] == "sampling was off"
    assert "cgroup" in why["/trajectory/cpu_seconds"]
    assert why["/trajectory/waits/lateness_ns/p99"] == "p99 needs 100 samples"
    assert why["/trajectory/waits/pause_ns/p50"] == "no wait paused its sandbox"
    one = block(ideal_sessions(), tmp_path / "again")
    assert (one.cpu_seconds, one.memory_bytes.peak, one.sampling) == (None, None, None)


def test_the_waves_are_seen_over_time(tmp_path: Path) -> None:
    points = block(ideal_sessions(), tmp_path).timeline
    assert max(point.running for point in points if point.t_ns < SECOND) == PER_WAVE
    assert max(point.arrived for point in points if point.t_ns < SECOND) == PER_WAVE
    assert (points[-1].done, points[-1].running) == (SESSIONS, 0)


def test_a_step_that_nobody_accounts_for_opens_the_identity(tmp_path: Path) -> None:
    later = T0 + WHOLE + 500 * MS
    one = block(ideal_sessions().changing("tj_session", n=0, t=later, stopped=later), tmp_path)
    assert (one.identity.closed, one.identity.worst_ns, one.identity.open) == (False, 500 * MS, 1)


def test_an_identity_may_be_open_by_20_ms_or_one_percent(tmp_path: Path) -> None:
    for added, is_closed in ((20 * MS, True), (21 * MS, False)):
        later = T0 + WHOLE + added
        run = ideal_sessions().changing("tj_session", n=0, t=later, stopped=later)
        assert block(run, tmp_path / str(added)).identity.closed is is_closed


def test_commands_are_counted_by_what_became_of_them(tmp_path: Path) -> None:
    run = ideal_sessions()
    for n, outcome in enumerate(("timed_out_cleaned", "timed_out_uncleaned", "failed_to_start", "unknown")):
        run = run.changing("tj_command", n=n, outcome=outcome)
    one = block(run.changing("tj_command", n=5, exit_code=1), tmp_path)
    assert (one.timeouts.cleaned, one.timeouts.uncleaned) == (2, 2)
    assert (one.commands.completed, one.commands.failed, one.commands.unknown) == (2 * SESSIONS - 8, 6, 2)
    assert one.commands.nonzero == 2


def test_a_pause_is_part_of_the_extra_wait(tmp_path: Path) -> None:
    at = T0 + SECOND
    stamps = {"pause_begin": at, "pause_end": at + 3 * MS, "resume_begin": at + 9 * MS, "resume_end": at + 10 * MS}
    run = ideal_sessions().changing("tj_wait", **stamps, next_issued=at + 10 * MS)
    waits = block(run, tmp_path).waits
    assert (waits.pause_ns.max, waits.resume_ns.max, waits.residual_ns.max) == (3 * MS, MS, 0)


def test_audits_are_counted_by_name_and_what_did_not_pass_is_told(tmp_path: Path) -> None:
    run = ideal_sessions().changing("tj_audit", n=3, status="fail", evidence="processes 7 still run")
    audits = block(run, tmp_path).audits
    assert (audits.passed, audits.failed, audits.unknown) == (2 * SESSIONS - 2, 2, 0)
    assert audits.by_name[1] == AuditFigures(
        name="processes_gone",
        passed=SESSIONS - 1,
        failed=1,
        unknown=0,
        evidence=["session 3: processes 7 still run"],
    )


def test_what_this_machine_lacks_is_a_warning(tmp_path: Path) -> None:
    note = {"k": "tj_note", "t": T0, "text": "no cgroups: none are mounted here"}
    recorded = sessions_of(ideal_sessions().adding(note).write(tmp_path / "run"))
    assert ("machine", note["text"]) in [(one.code, one.text) for one in recorded.warnings]


def test_audits_of_the_run_stand_beside_those_of_sessions(tmp_path: Path) -> None:
    line = {"k": "tj_audit", "t": T0, "name": "no OOM"}
    audits = block(
        ideal_sessions().adding(
            line | {"n": 0, "status": "pass"}, line | {"n": None, "status": "unknown", "evidence": "no counter here"}
        ),
        tmp_path,
    ).audits
    assert (audits.by_name[-1].passed, audits.by_name[-1].unknown) == (1, 1)
    assert audits.by_name[-1].evidence == ["run: no counter here"]


def test_kernel_counters_are_summed_only_where_all_are_known(tmp_path: Path) -> None:
    counters = [
        {"k": "tj_counters", "t": T0, "n": n, "cpu_ns": 250 * MS, "memory_peak": (n + 1) << 20} for n in range(SESSIONS)
    ]
    one = block(ideal_sessions().adding(*counters), tmp_path / "all")
    assert (one.cpu_seconds, one.memory_bytes.peak) == (0.25 * SESSIONS, SESSIONS << 20)
    assert block(ideal_sessions().adding(*counters[1:]), tmp_path / "some").cpu_seconds is None


def test_of_a_killed_run_what_nobody_saw_end_is_unknown(tmp_path: Path) -> None:
    run = ideal_sessions().without(
        lambda line: (
            line["t"] > T0 + SECOND or line.get("name") == "end" or (line["k"] == "tj_session" and line["n"] == 0)
        )
    )
    one = block(run, tmp_path)
    assert (one.sessions.completed, one.sessions.unfinished) == (PER_WAVE - 1, SESSIONS - PER_WAVE + 1)
    assert (one.makespan_ns, one.audits.unknown) == (None, 1)
