"""A request load judged: validity before budgets, and whose fault a shortfall was."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import jsonschema
import pytest
from tests.unit.synthetic_load import MS, SECOND, T0, Line, SyntheticLoad, histogram, ideal_load, load_of

from perfq.judge.verdict import Judgement, judge
from perfq.measure.result.schema import shipped
from perfq.profile.budget_file import preset
from perfq.profile.budgets import parse_budget

SCHEMA = jsonschema.Draft202012Validator(json.loads(shipped()))
Change = Callable[[SyntheticLoad], SyntheticLoad]


def judged(run: SyntheticLoad, tmp_path: Path) -> Judgement:
    judgement = judge(load_of(run.write(tmp_path / "run")))
    SCHEMA.validate(judgement.result.plain())
    return judgement


def broken(judgement: Judgement) -> list[str]:
    return [check.name for check in judgement.result.validity.checks if check.status in ("failed", "unknown")]


def test_an_ideal_load_passes_and_its_rate_was_judged_unasked(tmp_path: Path) -> None:
    judgement = judged(ideal_load(), tmp_path)
    assert (judgement.result.verdict.status, judgement.exit_code) == ("PASS", 0)
    budget = judgement.result.budgets[0]
    assert (budget.metric, budget.status, budget.limit, budget.observed) == ("load.achieved_rate", "met", 99.0, 100.0)


def test_an_ideal_load_meets_the_slo_of_kubernetes(tmp_path: Path) -> None:
    judgement = judged(ideal_load(seconds=12).budgeted(*preset("k8s-slo")), tmp_path)
    statuses = {one.metric: one.status for one in judgement.result.budgets}
    assert judgement.exit_code == 0, judgement.result.verdict.reasons
    assert statuses["load.slo.mutating.p99_ns"] == statuses["load.slo.get.p99_ns"] == "met"
    assert statuses["load.slo.cluster_read.p99_ns"] == "not_applicable"


def slices(**changes: object) -> Change:
    """Changes every second of the load."""
    return lambda run: run.mapped(lambda line: line | changes if line["k"] == "load_slice" else line)


def latency(name: str, value: int) -> Change:
    """Every request of that latency."""

    def change(line: Line) -> Line:
        if line["k"] != "load_slice":
            return line
        return line | {"latency": line["latency"] | {name: histogram([value] * 100)}}

    return lambda run: run.mapped(change)


def totals(**changes: object) -> Change:
    """Changes the engine's totals, not the seconds."""
    return lambda run: run.mapped(lambda line: line | changes if line["k"] == "load_end" else line)


def unsent(count: int) -> Change:
    """The last second's requests never went out, and it is written so everywhere."""

    def change(line: Line) -> Line:
        if line["k"] == "load_end":
            return line | {"sent": 1000 - count, "ok": 1000 - count, "not_sent": count}
        if line["k"] == "load_slice" and line["second"] == 9:
            return line | {"sent": 100 - count, "ok": 100 - count, "not_sent": count}
        return line

    return lambda run: run.mapped(change)


FAULTS: dict[str, tuple[Change, str]] = {
    "the engine had to end it early": (
        lambda run: run.adding({"k": "mark", "t": T0 + 9 * SECOND, "name": "failed", "why": "line 7: no path"}),
        "engine",
    ),
    "requests were sent late": (latency("lag", 11 * MS), "lag p99"),
    "the lag was not recorded": (
        lambda run: run.mapped(lambda line: line | {"latency": {}} if line["k"] == "load_slice" else line),
        "lag max",
    ),
    "a thread of the engine had no time left": (slices(cpu_share_max=0.9), "engine CPU share"),
    "the engine's CPU was not recorded": (slices(cpu_share_max=None), "engine CPU share"),
    "requests were never sent": (unsent(2), "requests cancelled or not sent"),
    "a request has no fate": (totals(ok=999), "requests without a fate"),
    "a second is missing in the record": (
        lambda run: run.without(lambda line: line["k"] == "load_slice" and line["second"] == 4),
        "requests missing in the record",
    ),
    "the machine slept": (
        lambda run: run.adding({"k": "jump", "t": T0 + SECOND, "slept_ns": SECOND}),
        "machine slept",
    ),
    "nearly all file descriptors were open": (
        lambda run: run.mapped(lambda line: line | {"fds": 1000} if line["k"] == "host" else line),
        "file descriptor share",
    ),
    "a quota held the cgroup back": (
        lambda run: run.mapped(
            lambda line: line | {"throttled_ns": (line["t"] - T0) // 5} if line["k"] == "host" else line
        ),
        "CPU throttled share",
    ),
    "a line cannot be read": (lambda run: run.adding({"k": "load_slice", "t": 1}), "lines missing in the record"),
}


@pytest.mark.parametrize("what", sorted(FAULTS))
def test_a_load_is_invalid_although_its_budgets_are_met_when(what: str, tmp_path: Path) -> None:
    change, check = FAULTS[what]
    judgement = judged(change(ideal_load()), tmp_path)
    assert (judgement.result.verdict.status, judgement.exit_code) == ("INVALID", 4)
    assert check in broken(judgement)
    assert any(reason.startswith(check) for reason in judgement.result.verdict.reasons)


def short(run: SyntheticLoad) -> SyntheticLoad:
    """Only half of the plan was sent by its end; the rest followed."""
    return totals(sent_by_end=500, drain_ns=10 * SECOND)(run)


def test_a_rate_that_the_targets_slots_held_back_is_a_missed_budget(tmp_path: Path) -> None:
    judgement = judged(latency("slot_wait", 3 * SECOND)(short(ideal_load())), tmp_path)
    load = judgement.result.load
    assert load is not None
    assert (load.limited_by, load.cause, load.achieved_rate) == ("target", "slot_wait", 50.0)
    assert (judgement.result.verdict.status, judgement.exit_code) == ("FAIL", 3)
    assert broken(judgement) == []


def test_a_rate_that_the_order_of_objects_held_back_is_the_targets_too(tmp_path: Path) -> None:
    load = judged(latency("order_wait", 3 * SECOND)(short(ideal_load())), tmp_path).result.load
    assert load is not None
    assert (load.limited_by, load.cause) == ("target", "order_wait")


def test_a_rate_that_lag_held_back_proves_nothing_about_the_target(tmp_path: Path) -> None:
    late = latency("lag", 2 * SECOND)(latency("slot_wait", 3 * SECOND)(short(ideal_load())))
    judgement = judged(late, tmp_path)
    load = judgement.result.load
    assert load is not None
    assert (load.limited_by, load.cause) == ("generator", "lag")
    assert (judgement.result.verdict.status, judgement.exit_code) == ("INVALID", 4)
    assert {"lag p99", "rate lost to lag"} <= set(broken(judgement))


def test_what_a_slow_target_did_not_take_in_time_is_its_shortfall(tmp_path: Path) -> None:
    run = totals(sent_by_end=800)(latency("slot_wait", 3 * SECOND)(unsent(90)(ideal_load())))
    judgement = judged(run, tmp_path)
    assert (judgement.result.verdict.status, judgement.exit_code) == ("FAIL", 3)


@pytest.mark.parametrize("seconds", [0.4, 1, 3, 60])
def test_a_target_that_fell_silent_before_the_deadline_proves_nothing(tmp_path: Path, seconds: float) -> None:
    run = totals(sent_by_end=800)(latency("slot_wait", 3 * SECOND)(unsent(90)(ideal_load())))
    silent = run.mapped(
        lambda line: line | {"t": line["t"] + int(seconds * SECOND)} if line["k"] == "load_end" else line
    )
    judgement = judged(silent, tmp_path)
    assert (judgement.result.verdict.status, judgement.exit_code) == ("INVALID", 4)
    assert "requests cancelled or not sent" in broken(judgement)


def test_a_target_that_answers_to_the_end_of_a_short_grace_is_slow_and_not_silent(tmp_path: Path) -> None:
    def later(line: Line) -> Line:
        if line["k"] == "load_end" or (line["k"] == "load_slice" and line["second"] == 9):
            return line | {"t": line["t"] + SECOND} | ({"second": 10} if line["k"] == "load_slice" else {})
        return line

    run = totals(sent_by_end=800)(latency("slot_wait", 3 * SECOND)(unsent(90)(ideal_load())))
    judgement = judged(run.mapped(later), tmp_path)
    assert (judgement.result.verdict.status, judgement.exit_code) == ("FAIL", 3)


@pytest.mark.parametrize(("wait", "cause"), [("slot_ns", "slot_wait"), ("order_ns", "order_wait")])
def test_requests_that_still_waited_for_a_silent_target_are_its_shortfall(
    wait: str, cause: str, tmp_path: Path
) -> None:
    """Nothing that was sent had to wait: the lag of all of them is the longest sum, and explains nothing."""
    unsent_wait = {"slot_ns": 0, "order_ns": 0} | {wait: 90 * SECOND}
    judgement = judged(totals(sent_by_end=800, unsent_wait=unsent_wait)(unsent(90)(ideal_load())), tmp_path)
    load = judgement.result.load
    assert load is not None
    assert (load.cause, load.limited_by) == (cause, "target")
    said = next(one.text for one in judgement.result.warnings if one.code == "held_back")
    assert f"({cause}) and 90 were never sent, while" in said


def test_requests_that_were_dropped_for_want_of_a_slot_are_the_targets(tmp_path: Path) -> None:
    run = totals(sent_by_end=910, overload="drop", dropped=90)(unsent(90)(ideal_load()))
    judgement = judged(run, tmp_path)
    load = judgement.result.load
    assert load is not None
    assert (load.cause, load.limited_by, judgement.exit_code) == ("dropped", "target", 3)


def refused_from(second: int) -> Change:
    """From that second on nobody listens any more: the requests end in an error without having been sent."""
    refused = {"connection/connection refused": 100}

    def change(line: Line) -> Line:
        if line["k"] == "load_slice" and line["second"] >= second:
            return line | {"sent": 0, "ok": 0, "errors": refused, "latency": {}, "series": []}
        if line["k"] == "load_end":
            sent = second * 100
            lost = {"connection/connection refused": 1000 - sent}
            return line | {"sent": sent, "sent_by_end": sent, "ok": sent, "errors": lost}
        return line

    return lambda run: run.mapped(change)


def test_a_target_that_dies_in_mid_run_is_not_the_generators_fault(tmp_path: Path) -> None:
    """The lag of those that were sent is the longest wait of all, and explains nothing."""
    judgement = judged(refused_from(6)(ideal_load()), tmp_path)
    load = judgement.result.load
    assert load is not None
    assert (load.cause, load.limited_by, load.achieved_rate) == ("unreachable", "target", 60.0)
    assert (judgement.result.verdict.status, judgement.exit_code) == ("FAIL", 3)
    said = next(one.text for one in judgement.result.warnings if one.code == "held_back")
    assert "since 400 requests found no connection (connection/connection refused)" in said


def turned_away(line: Line) -> Line:
    """Every request is answered at once, with a 403."""
    if line["k"] == "load_slice":
        series = [one | {"ok": 0, "errors": {"http/403": one["ok"]}} for one in line["series"]]
        return line | {"ok": 0, "errors": {"http/403": 100}, "series": series}
    return line | {"ok": 0, "errors": {"http/403": 1000}} if line["k"] == "load_end" else line


def test_a_load_in_which_no_request_succeeds_fails_although_it_keeps_its_rate(tmp_path: Path) -> None:
    judgement = judged(ideal_load().mapped(turned_away), tmp_path)
    assert (judgement.result.verdict.status, judgement.exit_code) == ("FAIL", 3)
    assert judgement.result.verdict.reasons == ["no request succeeded: 0 of 1,000"]


def test_where_nothing_is_answered_a_latency_that_is_lacking_is_no_excuse(tmp_path: Path) -> None:
    run = refused_from(0)(ideal_load()).budgeted(parse_budget("latency.response.p99<=1s"))
    judgement = judged(run, tmp_path)
    assert (judgement.result.verdict.status, judgement.exit_code) == ("FAIL", 3), judgement.result.verdict.reasons


@pytest.mark.parametrize(
    ("series", "status"), [("GET core/v1/pods object", "met"), ("GET core/v1/podz object", "not_measurable")]
)
def test_an_error_that_a_series_never_had_has_occurred_0_times(tmp_path: Path, series: str, status: str) -> None:
    budget = parse_budget(f"load.series.{series}.errors.http/500==0")
    (found,) = (one for one in judged(ideal_load().budgeted(budget), tmp_path).result.budgets if "series" in one.metric)
    assert found.status == status


def test_a_server_that_turns_requests_away_does_not_meet_the_slo_of_kubernetes(tmp_path: Path) -> None:
    def one_in_ten(line: Line) -> Line:
        counts = {"load_slice": (90, 10), "load_end": (900, 100)}.get(line["k"])
        return line if counts is None else line | {"ok": counts[0], "errors": {"http/403": counts[1]}}

    judgement = judged(ideal_load().mapped(one_in_ten).budgeted(*preset("k8s-slo")), tmp_path)
    assert [one.metric for one in judgement.result.budgets if one.status == "missed"] == ["load.error_share"]


def test_of_a_load_with_both_kinds_of_loops_the_open_one_is_judged(tmp_path: Path) -> None:
    """The closed one keeps the engine busy by its nature."""

    def change(line: Line) -> Line:
        if line.get("segment") == 1 and line["k"] == "load_segment":
            return line | {"closed": True, "requested_rate": None}
        if line.get("segment") == 1 and line["k"] == "load_slice":
            return line | {"cpu_share_max": 0.97}
        if line.get("segment") == 0 and line["k"] == "load_end":
            return line | {"sent_by_end": 500, "unsent_wait": {"slot_ns": SECOND, "order_ns": 0}}
        return line

    judgement = judged(ideal_load(segments=2).mapped(change), tmp_path)
    load = judgement.result.load
    assert load is not None
    assert (load.closed, load.requested_rate, load.achieved_rate) == (False, 100.0, 50.0)
    assert (load.limited_by, judgement.exit_code) == ("target", 3), judgement.result.verdict.reasons
    assert [one.metric for one in judgement.result.budgets] == ["load.achieved_rate"]
    assert "generator_busy" in [one.code for one in judgement.result.warnings]


@pytest.mark.parametrize(("why", "code"), [("error-share", 4), ("SIGINT", 130), ("max-time", 4)])
def test_a_load_that_was_stopped_is_aborted_with_the_figure(why: str, code: int, tmp_path: Path) -> None:
    run = totals(stopped=why, sent=600, ok=600, not_sent=400, sent_by_end=600)(ideal_load())
    run = run.without(lambda line: line["k"] == "load_slice" and line["second"] > 5)
    run = run.adding({"k": "stop", "t": T0 + 6 * SECOND, "why": why, "figure": "37 of 600 requests"})
    judgement = judged(run, tmp_path)
    load = judgement.result.load
    assert load is not None
    assert (judgement.result.verdict.status, judgement.exit_code) == ("ABORTED", code)
    assert judgement.result.verdict.reasons == [f"stopped by {why}: 37 of 600 requests"]
    assert (load.achieved_rate, load.ok) == (None, 600)


def test_a_load_that_never_began_is_judged_by_that_alone(tmp_path: Path) -> None:
    judgement = judged(ideal_load().without(lambda line: line["k"].startswith("load_")), tmp_path)
    assert broken(judgement) == ["load started"]
    assert judgement.exit_code == 4


def test_a_closed_loop_has_no_rate_to_be_judged(tmp_path: Path) -> None:
    run = ideal_load().mapped(
        lambda line: line | {"closed": True, "requested_rate": None} if line["k"] == "load_segment" else line
    )
    result = judged(run.budgeted(parse_budget("latency.response.p99<=1s")), tmp_path).result
    assert result.verdict.status == "PASS"
    assert [(one.metric, one.status) for one in result.budgets] == [("latency.response.p99", "not_applicable")]


@pytest.mark.parametrize(
    ("text", "status", "observed"),
    [
        ("latency.response.p99<=1s", "met", None),
        ("load.series.GET core/v1/pods object.service.p50<=1ms", "missed", None),
        ("load.series.GET core/v1/pods object.ok>=600", "met", 600),
        ("load.errors.http/429==0", "met", 0),
        ("load.error_share<=1%", "met", 0.0),
        ("load.engine_cpu_share<=50%", "met", None),
        ("load.connections.handshake.max<=5ms", "met", 4 * MS),
        ("latency.order_wait.p99<=1ms", "not_applicable", None),
        ("latency.input.p95<=100ms", "not_applicable", None),
        ("replay.updates.dropped==0", "not_applicable", None),
        ("process.client.cpu_seconds<=1s", "not_applicable", None),
        ("load.slo.cluster_read.p99_ns<=30s", "not_applicable", None),
        ("latency.service.p999<=1s", "met", None),
    ],
)
def test_budgets_of_a_load(text: str, status: str, observed: object, tmp_path: Path) -> None:
    result = judged(ideal_load().budgeted(parse_budget(text)), tmp_path).result
    one = result.budgets[0]
    assert one.status == status, one
    assert observed is None or one.observed == observed
    assert status == "not_applicable" or one.observed is not None


def test_a_segment_has_budgets_of_its_own(tmp_path: Path) -> None:
    run = ideal_load(segments=2).budgeted(parse_budget("latency.response.phases.segment-1.p99<=1us"))
    assert judged(run, tmp_path).result.budgets[0].status == "missed"
