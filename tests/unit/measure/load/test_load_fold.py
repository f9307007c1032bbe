"""From the lines of a load to its figures."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import jsonschema
import pytest
from tests.unit.synthetic_load import MS, SECOND, SERIES, T0, Line, SyntheticLoad, histogram, ideal_load, load_of

from perfq.judge.verdict import judge
from perfq.measure.load.recorded import LoadRecorded
from perfq.measure.result.schema import shipped
from perfq.profile.budgets import parse_budget

if TYPE_CHECKING:
    from perfq._core import RecorderStatus

SCHEMA = jsonschema.Draft202012Validator(json.loads(shipped()))


def folded(run: SyntheticLoad, tmp_path: Path) -> LoadRecorded:
    """The run folded; its result has to fit the schema, whatever the test is about."""
    recorded = load_of(run.write(tmp_path / "run"))
    SCHEMA.validate(judge(recorded).result.plain())
    return recorded


def test_counts_and_rates_of_an_ideal_load_are_what_its_lines_say(tmp_path: Path) -> None:
    load = folded(ideal_load(), tmp_path).load
    assert (load.planned, load.sent, load.ok, load.errors, load.timed_out) == (1000, 1000, 1000, {}, 0)
    assert (load.cancelled, load.not_sent, load.late, load.retries) == (0, 0, 0, 0)
    assert (load.requested_rate, load.achieved_rate, load.limited_by, load.closed) == (100.0, 100.0, None, False)
    assert (load.bytes, load.error_share, load.in_flight_max) == (1_000_000, 0.0, 3)
    assert load.engine_cpu_seconds == 1.0
    assert load.engine_cpu_share == pytest.approx(0.08)
    assert (load.connections.opened, load.connections.stream_limit) == (2, 250)
    assert load.connections.handshake is not None
    assert load.connections.handshake.count == 2


def test_latencies_are_those_of_all_seconds_within_a_thousandth(tmp_path: Path) -> None:
    latency = folded(ideal_load(), tmp_path).latency
    response, service, lag = latency["response"], latency["service"], latency["lag"]
    assert response is not None
    assert service is not None
    assert lag is not None
    assert (response.count, response.method, response.phases) == (1000, "histogram", {})
    assert service.max == round(8 * MS * 1.9)
    assert response.max == round(8 * MS * 1.9) + 25_000
    assert lag.p99 == pytest.approx(20_000, rel=0.001)
    assert latency["order_wait"] is None


def test_a_wait_that_nobody_had_is_null_with_its_reason(tmp_path: Path) -> None:
    warnings = {one.field: one.text for one in folded(ideal_load(), tmp_path).warnings}
    assert warnings["/latency/order_wait"] == "no request waited for a former one on the same object"
    assert warnings["/load/server"] == "the target's own metrics were not asked for"


def test_every_null_of_a_result_has_a_warning(tmp_path: Path) -> None:
    for name, run in {"ideal": ideal_load(), "killed": killed(), "nothing": nothing()}.items():
        result = judge(load_of(run.write(tmp_path / name))).result.plain()
        named = {one["field"] for one in result["warnings"]}
        missing = [key for key, value in result["load"].items() if value is None and key not in ("limited_by", "cause")]
        missing += [key for key, value in result["latency"].items() if value is None]
        assert all(any(field.endswith(f"/{key}") for field in named if field) for key in missing), name


def test_series_come_with_their_own_figures_the_largest_first(tmp_path: Path) -> None:
    series = folded(ideal_load(), tmp_path).load.series
    assert [one.key for one in series] == [key for key, _, _ in sorted(SERIES, key=lambda one: -one[1])]
    first = series[0]
    assert (first.ok, first.bytes, len(first.slices)) == (600, 600_000, 10)
    assert first.response is not None
    assert first.response.count == 600
    assert first.slices[3].second == 3
    assert first.slices[3].count == 60


def test_a_long_load_is_told_in_few_slices_and_loses_no_sample(tmp_path: Path) -> None:
    load = folded(ideal_load(seconds=130), tmp_path).load
    slices = load.series[0].slices
    assert len(slices) <= 60
    assert sum(one.count for one in slices) == 130 * 60
    assert {one.seconds for one in slices} == {4}
    assert all(len(points) <= 200 for points in load.timeline.values())


def test_segments_are_summed_and_told_apart(tmp_path: Path) -> None:
    recorded = folded(ideal_load(segments=2), tmp_path)
    load, response = recorded.load, recorded.latency["response"]
    assert (load.planned, load.ok, load.requested_rate, load.achieved_rate) == (2000, 2000, 100.0, 100.0)
    assert [one.planned for one in load.segments] == [1000, 1000]
    assert response is not None
    assert {phase: one.count for phase, one in response.phases.items()} == {"segment-0": 1000, "segment-1": 1000}


def test_a_warm_up_is_no_part_of_the_load(tmp_path: Path) -> None:
    run = ideal_load(segments=2)
    warm = run.manifest.segments[0].replace(warm_up=True)
    run.manifest = run.manifest.replace(segments=[warm, run.manifest.segments[1]])
    recorded = folded(run, tmp_path)
    response = recorded.latency["response"]
    assert response is not None
    assert (response.count, response.phases, recorded.load.planned, recorded.load.ok) == (1000, {}, 1000, 1000)
    assert recorded.load.series[0].response is not None
    assert recorded.load.series[0].response.count == 600
    assert recorded.load.series[0].slices[0].second == 0
    assert len(recorded.load.segments) == 1


def test_errors_of_a_warm_up_take_no_room_from_those_of_the_load(tmp_path: Path) -> None:
    run = ideal_load(segments=2)
    warm = run.manifest.segments[0].replace(warm_up=True)
    run.manifest = run.manifest.replace(segments=[warm, run.manifest.segments[1]])
    line = {"k": "load_error", "t": T0 + MS, "key": "http/500", "series": SERIES[0][0], "status": 500}
    run = run.adding(
        *({**line, "segment": 0, "text": "cold"} for _ in range(500)), {**line, "segment": 1, "text": "boom"}
    )
    assert [one.text for one in folded(run, tmp_path).load.error_samples] == ["boom"]


def ended_with(**fields: Any) -> Callable[[Line], Line]:
    return lambda line: line | fields if line["k"] == "load_end" else line


def said(recorded: LoadRecorded, code: str) -> list[str]:
    return [one.text for one in recorded.warnings if one.code == code]


def test_raw_data_that_was_lost_is_said(tmp_path: Path) -> None:
    lost = ended_with(raw_data={"lines": 990, "lost": 10, "error": "No space left on device"})
    recorded = folded(ideal_load().mapped(lost), tmp_path)
    assert said(recorded, "raw_data") == ["10 samples are not in the raw data (No space left on device)"]
    whole = folded(ideal_load().mapped(ended_with(raw_data={"lines": 1000, "lost": 0})), tmp_path / "whole")
    assert said(whole, "raw_data") == []


def test_answers_that_are_not_in_the_form_that_was_asked_for_are_said(tmp_path: Path) -> None:
    run = ideal_load()
    asked = run.manifest.segments[0].replace(accept="protobuf")
    run.manifest = run.manifest.replace(segments=[asked])
    text = "answers were asked for as protobuf, and none came so"
    for envelopes, texts in ((0, [text]), (1000, [])):
        recorded = folded(run.mapped(ended_with(envelopes=envelopes)), tmp_path / str(envelopes))
        assert (recorded.load.envelopes, said(recorded, "accept")) == (envelopes, texts)


def test_a_credential_that_could_not_be_renewed_is_said(tmp_path: Path) -> None:
    mark = {"k": "mark", "t": T0 + SECOND, "name": "credential", "boot": None, "why": "the plugin exited with 1"}
    recorded = folded(ideal_load().adding(mark), tmp_path)
    assert said(recorded, "credential") == ["the credential could not be renewed: the plugin exited with 1"]


def closed(line: Line) -> Line:
    """The same in a closed loop."""
    return line | {"closed": True, "requested_rate": None} if line["k"] == "load_segment" else line


def test_a_closed_loop_has_neither_response_nor_a_requested_rate(tmp_path: Path) -> None:
    recorded = folded(ideal_load().mapped(closed), tmp_path)
    load = recorded.load
    assert recorded.latency["response"] is None
    assert recorded.latency["service"] is not None
    assert (load.closed, load.requested_rate) == (True, None)
    assert load.achieved_rate == pytest.approx(100, rel=0.01)
    assert load.slo["get"].latency == "service"
    warnings = {one.field: one.text for one in recorded.warnings}
    assert "closed loop" in warnings["/latency/response"]
    assert "closed loop" in warnings["/load/requested_rate"]


def test_a_closed_loop_that_kept_the_generator_busy_says_whose_limit_it_was(tmp_path: Path) -> None:
    busy = (
        ideal_load()
        .mapped(closed)
        .mapped(lambda line: line | {"cpu_share_max": 0.97} if line["k"] == "load_slice" else line)
    )
    recorded = folded(busy, tmp_path)
    warning = next(one for one in recorded.warnings if one.code == "generator_busy")
    assert "97%" in warning.text
    assert judge(recorded).result.verdict.status == "PASS"


def killed() -> SyntheticLoad:
    """Killed after the sixth second."""
    return ideal_load().without(lambda line: line["t"] > T0 + 6 * SECOND)


def nothing() -> SyntheticLoad:
    """Killed while the connections were being opened."""
    return ideal_load().without(lambda line: line["t"] > T0 - 500 * MS)


def test_a_killed_load_has_what_was_measured_and_no_guess_at_the_rest(tmp_path: Path) -> None:
    recorded = folded(killed(), tmp_path)
    load = recorded.load
    assert recorded.evidence.killed
    assert (load.planned, load.sent, load.ok) == (1000, 600, 600)
    assert (load.cancelled, load.not_sent, load.achieved_rate) == (None, None, None)
    assert recorded.latency["response"] is not None
    assert judge(recorded).result.verdict.status == "ABORTED"


def test_a_load_whose_disk_filled_up_is_invalid_with_the_reason_and_not_called_killed(tmp_path: Path) -> None:
    status: RecorderStatus = {"lines": 10, "bytes": 10, "lost": 3, "error": "No space left on device"}
    recorded = load_of(killed().write(tmp_path / "run"), status)
    assert not recorded.evidence.killed
    verdict = judge(recorded).result.verdict
    assert verdict.status == "INVALID"
    assert any("No space left on device" in reason for reason in verdict.reasons)


def test_failures_that_no_budget_judges_are_said(tmp_path: Path) -> None:
    def failing(line: Line) -> Line:
        counts = {"load_slice": (90, 10), "load_end": (900, 100)}.get(line["k"])
        return line if counts is None else line | {"ok": counts[0], "errors": {"http/429": counts[1]}}

    run = ideal_load().mapped(failing)
    recorded = folded(run, tmp_path)
    assert recorded.load.error_share == 0.1
    (warning,) = (one for one in recorded.warnings if one.code == "failures")
    assert warning.text == "100 of 1,000 requests failed (http/429 100), and no budget judges that"
    for budget, said in (("load.error_share<=20%", False), ("load.errors.http/500==0", True)):
        judged = load_of(run.budgeted(parse_budget(budget)).write(tmp_path / "judged"))
        assert ("failures" in [one.code for one in judged.warnings]) is said, budget


def test_where_nobody_listens_any_more_every_request_is_a_failure(tmp_path: Path) -> None:
    def refused(line: Line) -> Line:
        counts = {"load_slice": 100, "load_end": 1000}.get(line["k"])
        failed = {"sent": 0, "ok": 0, "errors": {"connection/connection refused": counts}}
        return line if counts is None else line | failed

    assert folded(ideal_load().mapped(refused), tmp_path).load.error_share == 1.0


def test_the_error_samples_are_bounded(tmp_path: Path) -> None:
    line = {"k": "load_error", "segment": 0, "key": "http/500", "series": SERIES[0][0], "status": 500, "text": "boom"}
    run = ideal_load().adding(*({**line, "t": T0 + i * MS} for i in range(500)))
    samples = folded(run, tmp_path).load.error_samples
    assert len(samples) == 100
    assert (samples[1].t_ns, samples[1].key, samples[1].text) == (MS, "http/500", "boom")


def test_a_histogram_that_does_not_fit_itself_is_left_out_and_noticed(tmp_path: Path) -> None:
    def broken(line: Line) -> Line:
        if line["k"] == "load_slice" and line["second"] == 4:
            return line | {"latency": line["latency"] | {"lag": {"counts": {"5": 1}, "count": 2, "max": 5}}}
        return line

    recorded = folded(ideal_load().mapped(broken), tmp_path)
    response = recorded.latency["response"]
    assert response is not None
    assert response.count == 900
    assert judge(recorded).result.verdict.status == "INVALID"


def test_the_slo_of_a_class_is_its_worst_series(tmp_path: Path) -> None:
    def slower(line: Line) -> Line:
        if line["k"] == "load_slice":
            extra = {"key": "UPDATE core/v1/configmaps object", "ok": 20, "bytes": 0}
            return line | {"series": [*line["series"], extra | {"response": histogram([2 * SECOND] * 20)}]}
        return line

    slo = folded(ideal_load().mapped(slower), tmp_path).load.slo
    assert list(slo) == ["mutating", "get", "namespace_read"]
    assert slo["mutating"].series == "UPDATE core/v1/configmaps object"
    assert slo["mutating"].p99_ns == pytest.approx(2 * SECOND, rel=0.001)
    assert slo["mutating"].count == 500
    assert slo["get"].series == "GET core/v1/pods object"


def test_series_with_few_samples_count_in_the_p99_of_their_class(tmp_path: Path) -> None:
    def rare(line: Line) -> Line:
        if line["k"] == "load_slice":
            extra = {"key": "GET core/v1/nodes object", "ok": 5, "bytes": 0, "response": histogram([SECOND] * 5)}
            return line | {"series": [*line["series"], extra]}
        return line

    get = folded(ideal_load().mapped(rare), tmp_path).load.slo["get"]
    assert (get.series, get.count) == (None, 650)
    assert get.p99_ns == pytest.approx(SECOND, rel=0.001)


@pytest.mark.parametrize("seconds", [3, 4, 5, 10, 11])
def test_the_rate_of_the_answers_is_known_from_three_seconds_on(tmp_path: Path, seconds: int) -> None:
    assert folded(ideal_load(seconds=seconds), tmp_path).load.answered_rate == pytest.approx(100)


def test_two_seconds_show_no_rate_of_the_answers(tmp_path: Path) -> None:
    assert folded(ideal_load(seconds=2), tmp_path).load.answered_rate is None
