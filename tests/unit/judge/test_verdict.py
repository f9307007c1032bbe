"""Validity before budgets, and whose fault it was."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import jsonschema
import pytest
from tests.unit.synthetic import HEADLESS, KUBECTL, MS, SECOND, T0, Line, SyntheticRun, ideal_run, profile

from perfq.judge.verdict import Judgement, judge
from perfq.measure.fold import fold
from perfq.measure.result.common import Cleanup
from perfq.measure.result.schema import shipped
from perfq.profile.budget_file import preset
from perfq.profile.budgets import parse_budget

SCHEMA = jsonschema.Draft202012Validator(json.loads(shipped()))


def judged(run: SyntheticRun, tmp_path: Path) -> Judgement:
    judgement = judge(fold(run.write(tmp_path / "run")))
    SCHEMA.validate(judgement.result.plain())
    return judgement


def without_scenarios(run: SyntheticRun) -> SyntheticRun:
    """As asked for with --no-scenarios."""
    options = run.manifest.options.replace(scenarios=[])
    manifest = run.manifest.replace(options=options)
    return replace(run.without(lambda line: line["k"] == "scenario"), manifest=manifest)


def broken(judgement: Judgement) -> list[str]:
    return [check.name for check in judgement.result.validity.checks if check.status in ("failed", "unknown")]


@pytest.mark.parametrize("name", ["correctness", "client-1k"])
def test_an_ideal_run_passes_every_preset(name: str, tmp_path: Path) -> None:
    judgement = judged(ideal_run().budgeted(*preset(name)), tmp_path)
    assert (judgement.result.verdict.status, judgement.exit_code) == ("PASS", 0)
    assert {one.status for one in judgement.result.budgets} <= {"met", "not_applicable"}


def test_a_valid_run_without_budgets_passes_and_says_so(tmp_path: Path) -> None:
    run = without_scenarios(ideal_run())
    result = judged(run, tmp_path).result
    assert (result.verdict.status, result.verdict.reasons, result.budgets) == ("PASS", ["no budgets"], [])


def _is(wanted: Line) -> Callable[[Line], bool]:
    return lambda line: line is wanted


def late(by_ns: int) -> Callable[[Line], Line]:
    def change(line: Line) -> Line:
        return line | {"due": line["due"] - by_ns} if line["k"] == "commit" and line["due"] else line

    return change


def cpu(cpu_per_tick: int) -> Callable[[Line], Line]:
    def change(line: Line) -> Line:
        busy = line["k"] == "process" and line["who"] == "harness"
        return line | {"cpu_ns": line["cpu_ns"] * cpu_per_tick} if busy else line

    return change


HARNESS_FAULTS: dict[str, tuple[Callable[[SyntheticRun], SyntheticRun], str]] = {
    "events were committed late": (lambda run: run.mapped(late(11 * MS)), "commit_lag p99"),
    "an event was never committed": (
        lambda run: run.without(lambda line: line["k"] == "commit" and line["seq"] == 100 and line["src"] == "plan"),
        "planned events not committed",
    ),
    "the harness used nearly all CPUs": (lambda run: run.mapped(cpu(18)), "harness CPU share"),
    "the harness was not sampled": (
        lambda run: run.without(lambda line: line["k"] == "process"),
        "harness CPU share",
    ),
    "nearly all file descriptors were open": (
        lambda run: run.mapped(lambda line: line | {"fds": 1000} if line["k"] == "host" else line),
        "file descriptor share",
    ),
    "the memory of the cgroup was used up": (
        lambda run: run.mapped(
            lambda line: line | {"memory_limit": 100, "memory_used": 95} if line["k"] == "host" else line
        ),
        "memory share",
    ),
    "a quota held the cgroup back": (
        lambda run: run.mapped(
            lambda line: line | {"throttled_ns": (line["t"] - T0) // 5} if line["k"] == "host" else line
        ),
        "CPU throttled share",
    ),
    "the machine slept": (
        lambda run: run.mapped(
            lambda line: line | {"boot": line["boot"] + SECOND} if line.get("name") == "churn_end" else line
        ),
        "machine slept",
    ),
    "the sampler saw the machine sleep": (
        lambda run: run.adding({"k": "jump", "t": T0 + SECOND, "slept_ns": SECOND}),
        "machine slept",
    ),
    "the server skipped an event of a watch": (
        lambda run: run.without(_is(run.of("written")[50])),
        "events missing in a watch",
    ),
    "the terminal could not be read": (
        lambda run: run.mapped(
            lambda line: (
                line | {"trouble": "the terminal cannot be read"} if line.get("name") == "client_stopped" else line
            )
        ),
        "terminal",
    ),
    "the client gave no digest": (
        lambda run: run.without(lambda line: line["k"] == "probe" and line["m"]["k"] == "digest"),
        "store digest",
    ),
    "the client gave no digest of its table": (
        lambda run: run.mapped(
            lambda line: (
                line | {"m": line["m"] | {"table": None}}
                if line["k"] == "probe" and line["m"]["k"] == "digest"
                else line
            )
        ),
        "table digest",
    ),
    "keys were not pressed": (
        lambda run: run.without(lambda line: line["k"] == "input" and line["pair"] > 5),
        "keys pressed while events flowed",
    ),
    "a scenario was never begun": (
        lambda run: run.without(lambda line: line["k"] == "scenario" and line["name"] == "sort"),
        "scenarios not walked",
    ),
    "the client never spoke to the probe": (
        lambda run: run.without(lambda line: line["k"] == "probe"),
        "updates without a fate",
    ),
}


@pytest.mark.parametrize("what", sorted(HARNESS_FAULTS))
def test_a_run_is_invalid_although_its_budgets_are_met_when(what: str, tmp_path: Path) -> None:
    change, check = HARNESS_FAULTS[what]
    judgement = judged(change(ideal_run()), tmp_path)
    assert (judgement.result.verdict.status, judgement.exit_code) == ("INVALID", 4)
    assert check in broken(judgement)
    assert any(reason.startswith(check) for reason in judgement.result.verdict.reasons)


def test_fewer_than_a_hundred_events_are_judged_by_the_latest(tmp_path: Path) -> None:
    few = profile(duration_seconds=4, bursts=[])
    assert judged(ideal_run(few), tmp_path).result.validity.checks[1].name == "commit_lag max"
    last = max(line["t"] for line in ideal_run(few).lines if line["k"] == "commit" and line["src"] == "plan")
    late_once = ideal_run(few).mapped(
        lambda line: line | {"t": line["t"] + 11 * MS} if line["k"] == "commit" and line["t"] == last else line
    )
    assert "commit_lag max" in broken(judged(late_once, tmp_path))


def test_lines_that_a_full_disk_took_make_the_run_invalid_with_what_was_kept(tmp_path: Path) -> None:
    status = {"lines": 10, "bytes": 10, "lost": 3, "error": "No space left on device"}
    recorded = fold(ideal_run().write(tmp_path / "run"), recorder=status)  # type: ignore[arg-type]
    result = judge(recorded).result
    assert result.verdict.status == "INVALID"
    assert any("No space left on device" in reason for reason in result.verdict.reasons)


def test_a_client_that_never_became_ready_makes_the_run_invalid(tmp_path: Path) -> None:
    judgement = judged(ideal_run().without(lambda line: line["t"] >= T0 - SECOND and line["k"] != "exit"), tmp_path)
    assert judgement.result.verdict.status == "ABORTED"
    run = ideal_run().without(lambda line: line["t"] >= T0 - SECOND)
    stopped = {"k": "mark", "t": T0, "name": "client_stopped", "boot": None}
    judgement = judged(run.adding(stopped), tmp_path)
    assert (judgement.result.verdict.status, judgement.exit_code) == ("INVALID", 4)
    assert "it was never ready" in judgement.result.verdict.reasons[0]


def test_a_client_that_ended_before_it_was_ready_makes_the_run_invalid(tmp_path: Path) -> None:
    run = ideal_run().without(lambda line: line["t"] >= T0 - SECOND)
    ended = {"k": "exit", "t": T0 - SECOND, "code": 1, "signal": None}
    stopped = {"k": "mark", "t": T0, "name": "client_stopped", "boot": None}
    result = judged(run.adding(ended, stopped), tmp_path).result
    assert result.verdict.status == "INVALID"
    assert "exit code 1" in result.verdict.reasons[0]


def crashed(run: SyntheticRun, *, at: int = T0 + 5 * SECOND) -> SyntheticRun:
    """The client is killed by a signal in mid-run: it says nothing more, and commits go on until then."""
    kept = run.without(lambda line: line["t"] > at and line["k"] != "mark" and line["k"] != "exit")
    kept = kept.without(lambda line: line["k"] == "exit")
    return kept.adding({"k": "exit", "t": at, "code": None, "signal": 11})


def test_a_client_that_crashes_after_churn_began_fails(tmp_path: Path) -> None:
    judgement = judged(crashed(ideal_run()).budgeted(*preset("client-1k")), tmp_path)
    assert (judgement.result.verdict.status, judgement.exit_code) == ("FAIL", 3)
    assert judgement.result.verdict.reasons[0].startswith("client_exit: killed by signal 11, 5 s after churn began")
    assert judgement.result.replay is not None
    assert judgement.result.replay.client_exit is not None


def test_a_crash_does_not_excuse_a_harness_that_was_late(tmp_path: Path) -> None:
    judgement = judged(crashed(ideal_run()).mapped(late(11 * MS)), tmp_path)
    assert judgement.result.verdict.status == "INVALID"


def test_the_end_that_we_gave_the_client_is_no_exit_of_its_own(tmp_path: Path) -> None:
    result = judged(ideal_run(), tmp_path).result
    assert result.replay is not None
    assert result.replay.client_exit is None


@pytest.mark.parametrize(("why", "code"), [("SIGINT", 130), ("SIGTERM", 130), ("max-time", 4), ("harness-memory", 4)])
def test_a_run_that_was_stopped_is_aborted_with_the_figure(why: str, code: int, tmp_path: Path) -> None:
    run = ideal_run().adding({"k": "stop", "t": T0 + SECOND, "why": why, "figure": "12 s passed"})
    judgement = judged(run, tmp_path)
    assert (judgement.result.verdict.status, judgement.exit_code) == ("ABORTED", code)
    assert judgement.result.verdict.reasons == [f"stopped by {why}: 12 s passed"]


def test_a_killed_run_is_aborted_and_keeps_its_figures(tmp_path: Path) -> None:
    judgement = judged(ideal_run().without(lambda line: line["t"] > T0 + 7 * SECOND), tmp_path)
    assert (judgement.result.verdict.status, judgement.exit_code) == ("ABORTED", 4)
    latency = judgement.result.latency["event_to_render"]
    assert latency is not None
    assert latency.count > 200


def test_what_was_left_behind_decides_the_exit_code_before_a_missed_budget(tmp_path: Path) -> None:
    run = ideal_run().budgeted(parse_budget("latency.input.p95<=1ms"))
    recorded = fold(run.write(tmp_path / "run"))
    judgement = judge(recorded, cleanup=Cleanup(complete=False, left=["/tmp/x"], command="rm -r /tmp/x"))
    assert (judgement.result.verdict.status, judgement.exit_code) == ("FAIL", 6)


def test_a_failed_scenario_fails_the_run_without_being_asked(tmp_path: Path) -> None:
    run = ideal_run().mapped(lambda line: line | {"ok": False, "screen": "blank"} if line["k"] == "scenario" else line)
    judgement = judged(run, tmp_path)
    assert (judgement.result.verdict.status, judgement.exit_code) == ("FAIL", 3)
    assert "replay.scenarios_failed: 2" in judgement.result.verdict.reasons[0]


def test_a_stuck_client_fails_its_input_budget_and_does_not_escape_as_invalid(tmp_path: Path) -> None:
    """Each key takes its whole time-out, so that most pairs could not be tried."""
    run = ideal_run().without(lambda line: line["k"] == "input" and line["pair"] > 1)
    run = run.mapped(lambda line: line | {"seen": None, "outcome": "censored"} if line["k"] == "input" else line)
    judgement = judged(run.budgeted(parse_budget("latency.input.p95<=100ms")), tmp_path)
    assert (judgement.result.verdict.status, judgement.exit_code) == ("FAIL", 3)


def test_a_digest_that_differs_fails_the_correctness_preset(tmp_path: Path) -> None:
    run = ideal_run().mapped(
        lambda line: (
            line | {"m": line["m"] | {"table": "f" * 64}}
            if line["k"] == "probe" and line["m"]["k"] == "digest"
            else line
        )
    )
    judgement = judged(run.budgeted(*preset("correctness")), tmp_path)
    assert (judgement.result.verdict.status, judgement.exit_code) == ("FAIL", 3)


def test_a_get_outside_a_scenario_is_unexpected_and_one_inside_is_not(tmp_path: Path) -> None:
    def get(at: int) -> Line:
        fields = {"group": "", "kind": "pods", "scope": "bench-0001", "name": "pod-000001", "sub": "", "class": "api"}
        more = {"status": 200, "bytes": 3500, "objects": 1, "page": None, "more": False, "retry_after": None}
        return {"k": "req", "t": at, "done": at + MS, "verb": "get", **fields, **more, "ua": "v", "conn": 1}

    inside = next(line["t"] + MS for line in ideal_run().lines if line["k"] == "scenario")
    assert judged(ideal_run().adding(get(inside)), tmp_path).result.api.unexpected_gets == 0  # type: ignore[union-attr]
    judgement = judged(ideal_run().adding(get(T0 + SECOND)).budgeted(*preset("correctness")), tmp_path)
    assert judgement.exit_code == 3


def test_an_injection_that_nothing_met_says_which_request_was_never_made(tmp_path: Path) -> None:
    workload = profile(failures=[{"kind": "metrics_unavailable", "at_event": 100}])
    run = ideal_run(workload).adding(
        {"k": "fault", "t": T0 + 5 * SECOND, "kind": "metrics_unavailable", "ev": "injected", "detail": ""}
    )
    judgement = judged(run, tmp_path)
    assert judgement.result.verdict.status == "INVALID"
    assert any("never made a request to metrics.k8s.io" in reason for reason in judgement.result.verdict.reasons)


def test_a_client_that_tells_nothing_from_inside_passes_by_what_is_seen_from_outside(tmp_path: Path) -> None:
    run = ideal_run().client(KUBECTL).without(lambda line: line["k"] in ("probe", "input"))
    judgement = judged(run.budgeted(*preset("correctness"), *preset("terminal-1k")), tmp_path)
    assert judgement.result.verdict.status == "PASS"
    by_metric = {one.metric: one for one in judgement.result.budgets}
    assert by_metric["replay.digests.match"].status == "not_applicable"
    assert by_metric["latency.event_to_screen.p95"].status == "met"


def headless() -> SyntheticRun:
    """A client that lists and watches, gives the digest of its store, and draws nothing."""
    drawn = ("rendered", "coalesced", "populated", "interactive")
    run = ideal_run().without(lambda line: line["k"] == "probe" and line["m"]["k"] in drawn)
    run = without_scenarios(run.without(lambda line: line["k"] in ("input", "cell", "probe_end", "screen")))
    run = run.without(lambda line: line["k"] == "commit" and line["src"] in ("probe", "restore"))
    return run.client(HEADLESS).mapped(
        lambda line: (
            line | {"m": line["m"] | {"table": None}} if line["k"] == "probe" and line["m"]["k"] == "digest" else line
        )
    )


def test_a_client_without_a_table_closes_the_identity_by_what_it_received(tmp_path: Path) -> None:
    run = headless()
    dropped = {line["rv"] for line in run.of("commit")}
    run = run.without(lambda line: line["k"] == "written" and line["rvs"][0] not in dropped)
    run = run.without(
        lambda line: line["k"] == "probe" and line["m"].get("rv") is not None and int(line["m"]["rv"]) not in dropped
    )
    result = judged(run.budgeted(*preset("correctness")), tmp_path).result
    assert result.verdict.status == "PASS"
    assert result.replay is not None
    assert result.replay.updates.rendered is None
    assert result.latency["event_to_client"] is not None
    by_metric = {one.metric: one.status for one in result.budgets}
    assert by_metric["replay.updates.dropped"] == "not_applicable"
    assert by_metric["replay.digests.match"] == "met"
    deaf = run.without(lambda line: line["k"] == "probe" and line["m"].get("rv") == str(max(dropped)))
    assert broken(judged(deaf, tmp_path / "deaf")) == ["updates without a fate"]


def test_events_that_a_user_deleted_are_skipped_and_not_missing(tmp_path: Path) -> None:
    run = ideal_run()
    gone = next(line for line in run.lines if line["k"] == "commit" and line["src"] == "plan")
    skipped = {key: gone[key] for key in ("t", "due", "seq", "ns", "name")} | {"k": "skip", "why": "deleted"}
    kept = replace(run, lines=[skipped if line is gone else line for line in run.lines])
    assert "planned events not committed" not in broken(judged(kept, tmp_path))
