"""The segments of a load profile: how each spec goes over time, and what the engine is told of it."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

import pytest

from perfq import _core
from perfq.profile.load.profile import LoadProfile
from perfq.profile.load.segments import Segment, segments_of, timeout_us

PODS = {"version": "v1", "resource": "pods"}
LIST = [{"shares": 1, "staleList": PODS}]


def profile(*specs: dict[str, Any], **more: Any) -> LoadProfile:
    """A load profile of these specs."""
    return LoadProfile.model_validate({"version": 1, "specs": list(specs), **more})


def only(spec: dict[str, Any], **more: Any) -> Segment:
    """The one segment of a profile of one spec."""
    (segment,) = segments_of(profile(spec, **more))
    return segment


def mix(segment: Segment) -> _core.Mix:
    """The core's generator."""
    return _core.Mix(json.dumps(segment.mix))


def test_a_first_spec_without_an_end_sends_a_thousand_requests() -> None:
    segment = only({"rate": 10, "requests": LIST})
    assert mix(segment).plan(0) == (1_000, 100_000_000)
    assert (segment.duration_us, segment.rate, segment.closed) == (None, 10, False)


def test_a_total_takes_precedence_over_a_duration() -> None:
    segment = only({"rate": 10, "total": 20, "duration": 60, "requests": LIST})
    assert mix(segment).plan(0) == (20, 2_000_000)
    assert segment.duration_us is None


def test_a_rate_of_zero_is_a_closed_loop_that_its_total_or_its_duration_ends() -> None:
    by_total = only({"total": 20, "client": 7, "requests": LIST})
    assert (by_total.closed, by_total.rate, mix(by_total).plan(0)) == (True, None, (20, None))
    assert by_total.peak_rate is None
    assert (by_total.options(runners=3)["rate"], by_total.options(runners=3)["in_flight"]) == (0, 7)
    by_duration = only({"duration": 3, "requests": LIST})
    assert (by_duration.duration_us, mix(by_duration).plan(0)) == (3_000_000, (None, None))


def test_a_duration_at_a_rate_is_known_to_the_request() -> None:
    segment = only({"rate": 2.5, "duration": 3, "requests": LIST})
    assert mix(segment).plan(0) == (8, 3_000_000)
    dues = [request["due_us"] for request in mix(segment).requests(0, 1, 99)]
    assert dues == [0, 400_000, 800_000, 1_200_000, 1_600_000, 2_000_000, 2_400_000, 2_800_000]


def test_stages_change_the_rate_and_add_up() -> None:
    stages = [{"duration": 2, "rate": 10}, {"duration": "4s", "from": 10, "to": 0}, {"duration": "500ms", "rate": 4}]
    segment = only({"stages": stages, "requests": LIST})
    assert segment.duration_us == 6_500_000
    assert segment.rate == pytest.approx(42 / 6.5)
    assert segment.peak_rate == 10
    assert mix(segment).plan(0) == (42, 6_500_000)
    counts = Counter((request["due_us"] or 0) // 2_000_000 for request in mix(segment).requests(0, 1, 99))
    assert counts == {0: 20, 1: 15, 2: 5, 3: 2}
    bounded = only({"stages": stages, "total": 25, "requests": LIST})
    assert bounded.duration_us is None
    assert mix(bounded).plan(0)[0] == 25


def test_watches_are_opened_as_an_informer_opens_them_and_count_as_planned() -> None:
    watch = {**PODS, "selector": "a=b", "count": 2, "over": "1s"}
    segment = only({"duration": 5, "watch": [watch, {**PODS, "sendInitialEvents": True}]})
    assert mix(segment).plan(0) == (3, 5_000_000)
    assert (segment.closed, segment.rate, segment.duration_us) == (False, None, 5_000_000)
    requests = mix(segment).requests(0, 1, 9)
    assert [(request["due_us"], request["query"]) for request in requests] == [
        (0, "allowWatchBookmarks=true&labelSelector=a%3Db&resourceVersion=0&watch=true"),
        (0, "allowWatchBookmarks=true&resourceVersionMatch=NotOlderThan&sendInitialEvents=true&watch=true"),
        (500_000, "allowWatchBookmarks=true&labelSelector=a%3Db&resourceVersion=0&watch=true"),
    ]
    assert not any(request["until_initial_bookmark"] for request in requests)


def test_a_warm_up_goes_before_its_spec_and_changes_none_of_its_draws() -> None:
    spec = {
        "rate": 5,
        "total": 9,
        "watch": [PODS],
        "requests": [{"shares": 1, "get": {**PODS, "name": "a", "keySpaceSize": 99}}],
    }
    cold = segments_of(profile(spec, spec))
    warm = segments_of(profile({**spec, "warmup": "2s"}, spec))
    assert [(segment.spec, segment.warmup) for segment in warm] == [(0, True), (0, False), (1, False)]
    assert [segment.mix for segment in warm[1:]] == [segment.mix for segment in cold]
    assert mix(warm[0]).plan(0) == (10, 2_000_000)
    assert (warm[0].duration_us, warm[0].mix["watches"]) == (2_000_000, [])
    assert mix(warm[0]).requests(0, 1, 5) != mix(warm[1]).requests(0, 1, 5)


def test_a_warm_up_of_stages_takes_their_first_rate_that_is_not_zero() -> None:
    stages = [{"duration": 1, "rate": 0}, {"duration": 1, "from": 0, "to": 30}]
    warm, _ = segments_of(profile({"stages": stages, "warmup": 1, "requests": LIST}))
    assert (warm.rate, mix(warm).plan(0)) == (30, (30, 1_000_000))


def test_the_engine_is_told_the_connections_the_protocol_and_the_form_of_each_spec() -> None:
    first = {"conns": 3, "client": 9, "total": 1, "requests": LIST}
    second = {"contentType": "protobuf", "disableHTTP2": True, "maxRetries": 2, "duration": 1, "requests": LIST}
    one, two = (segment.options(runners=4, runner_index=1) for segment in segments_of(profile(first, second)))
    assert one == {
        "source": {"mix": one["source"]["mix"]},
        "runners": 4,
        "runner_index": 1,
        "connections": 3,
        "in_flight": 9,
        "protocol": "http2",
        "accept": "json",
        "max_retries": 0,
        "duration_us": None,
        "rate": 0,
    }
    assert (two["protocol"], two["accept"], two["max_retries"], two["duration_us"]) == (
        "http1",
        "protobuf",
        2,
        1_000_000,
    )
    assert segments_of(profile({**first, "maxRetries": -1}))[0].max_retries == 0


def test_the_timeout_is_a_minute_where_none_is_given() -> None:
    assert timeout_us(profile({"requests": LIST})) == 60_000_000
    assert timeout_us(profile({"requests": LIST}, timeout="250ms")) == 250_000


def test_a_plan_adds_up_the_runners_and_can_be_that_of_one_of_them() -> None:
    segment = only({"rate": 10, "total": 30, "watch": [PODS], "requests": LIST})
    plan = segment.plan(runners=3)
    assert (plan.requests, plan.end_us) == (3 * 31, 3_000_000)
    one = segment.plan(runners=3, runner_index=2)
    assert [(runner.index, runner.requests) for runner in one.runners] == [(2, 31)]
    unending = only({"duration": 3, "requests": LIST}).plan(runners=2)
    assert (unending.requests, unending.end_us) == (None, None)


def test_the_rate_that_poisson_arrivals_ask_for_is_that_of_the_arrivals_that_were_drawn() -> None:
    spec = {"rate": 40, "duration": 5, "watch": [PODS], "requests": LIST}
    segment = only({**spec, "arrival": "poisson"})
    plan = segment.plan(runners=2)
    assert plan.requests is not None
    assert segment.options(runners=2)["rate"] == pytest.approx((plan.requests - 2) / 2 / 5)
    assert segment.options(runners=2)["rate"] != 40
    assert only(spec).options(runners=2)["rate"] == 40
    assert only({**spec, "arrival": "poisson", "rate": 0}).options(runners=2)["rate"] == 0
