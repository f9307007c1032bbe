"""Profiles: every broken rule at once, whatever is wrong and wherever it came from."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from perfq import Plan
from perfq.errors import UsageError
from perfq.profile.override import parse_set
from perfq.profile.source import Source
from perfq.profile.workload import resolve_profile, resolve_source

SOUND: dict[str, Any] = {
    "schema_version": 1,
    "id": "mine",
    "seed": 7,
    "object_count": 100,
    "namespace_count": 4,
    "steady_events_per_second": 10,
    "duration_seconds": 10,
    "bursts": [{"start_second": 2, "duration_seconds": 3, "events_per_second": 50}],
    "failures": [{"kind": "gone", "at_event": 5}],
}


def written(**changes: Any) -> str:
    """A profile's text, a key a line: schema_version on line 2 … failures on line 10."""
    fields = {**SOUND, **changes}
    return "{\n" + ",\n".join(f"{json.dumps(key)}: {json.dumps(value)}" for key, value in fields.items()) + "\n}"


def errors(text: str, *sets: str) -> list[str]:
    with pytest.raises(UsageError) as caught:
        resolve_source(Source("p", text.encode()), [parse_set(each) for each in sets])
    return list(caught.value.details)


def test_a_sound_profile_is_what_was_written_and_can_be_planned() -> None:
    profile = resolve_source(Source("p", written().encode()))
    assert profile.model_dump() == SOUND
    assert Plan(profile.to_json()).events == 7 * 10 + 3 * 50


def test_bursts_and_failures_may_be_left_out_and_yaml_says_the_same() -> None:
    yaml = "\n".join(f"{key}: {value}" for key, value in SOUND.items() if key not in ("bursts", "failures"))
    profile = resolve_source(Source("p", yaml.encode()))
    assert (profile.bursts, profile.failures) == ([], [])
    assert '"bursts":[],"failures":[]' in Plan(profile.to_json()).emit("profile").decode()


SEED = 9223372036854775807


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"schema_version": 2}, ["p:2: schema_version: got 2, expected 1, the only version that this perfq reads"]),
        ({"schema_version": "1"}, ['p:2: schema_version: got "1", expected 1, the only version that this perfq reads']),
        (
            {"schema_version": True},
            ["p:2: schema_version: got true, expected 1, the only version that this perfq reads"],
        ),
        ({"schema_version": 1.0}, ["p:2: schema_version: got 1.0, expected 1, the only version that this perfq reads"]),
        ({"id": ""}, ['p:3: id: got "", expected text of 1 to 128 characters']),
        ({"id": "x" * 129}, ['p:3: id: got "' + "x" * 59 + "…, expected text of 1 to 128 characters"]),
        ({"id": "a\nb"}, ['p:3: id: got "a\\nb", expected 1 to 128 printable characters']),
        ({"id": "\ud800"}, ['p:3: id: got "\\ud800", expected text without lone surrogates']),
        ({"id": 5}, ["p:3: id: got 5, expected text of 1 to 128 characters"]),
        ({"seed": -1}, [f"p:4: seed: got -1, expected an integer from 0 to {SEED}"]),
        ({"seed": 2**63}, [f"p:4: seed: got {2**63}, expected an integer from 0 to {SEED}"]),
        ({"seed": 10**400}, [f"p:4: seed: got 100000000000… (401 digits), expected an integer from 0 to {SEED}"]),
        ({"seed": None}, [f"p:4: seed: got null, expected an integer from 0 to {SEED}"]),
        ({"object_count": True}, ["p:5: object_count: got true, expected an integer from 1 to 1000000"]),
        ({"object_count": "100"}, ['p:5: object_count: got "100", expected an integer from 1 to 1000000']),
        ({"object_count": 100.0}, ["p:5: object_count: got 100.0, expected an integer from 1 to 1000000"]),
        ({"object_count": 0}, ["p:5: object_count: got 0, expected an integer from 1 to 1000000"]),
        ({"object_count": 1_000_004}, ["p:5: object_count: got 1000004, expected an integer from 1 to 1000000"]),
        ({"namespace_count": 7}, ["p:5: object_count: got 100, expected a multiple of namespace_count (7)"]),
        ({"namespace_count": 10_001}, ["p:6: namespace_count: got 10001, expected an integer from 1 to 10000"]),
        (
            {"steady_events_per_second": 100_001},
            ["p:7: steady_events_per_second: got 100001, expected an integer from 0 to 100000"],
        ),
        ({"duration_seconds": 0}, ["p:8: duration_seconds: got 0, expected an integer from 1 to 86400"]),
        (
            {"duration_seconds": 86_400, "steady_events_per_second": 200},
            [
                "p:8: duration_seconds: got 17279550 planned events, expected at most 10000000 events in all; lower a "
                "rate or the duration"
            ],
        ),
        (
            {"duration_seconds": 4},
            ["p:9: bursts.0: got seconds 2 to 5, expected a burst that ends within duration_seconds (4)"],
        ),
        (
            {"bursts": [*SOUND["bursts"], {"start_second": 4, "duration_seconds": 1, "events_per_second": 1}]},
            ["p:9: bursts.1: got seconds 4 to 5, expected no overlap with bursts.0 (seconds 2 to 5)"],
        ),
        (
            {"bursts": [{"start_second": -1, "duration_seconds": 0, "events_per_second": 100_001}]},
            [
                "p:9: bursts.0.start_second: got -1, expected an integer from 0 to 86399",
                "p:9: bursts.0.duration_seconds: got 0, expected an integer from 1 to 86400",
                "p:9: bursts.0.events_per_second: got 100001, expected an integer from 1 to 100000",
            ],
        ),
        (
            {"bursts": {}},
            [
                "p:9: bursts: got {}, expected a list of {start_second, duration_seconds, events_per_second}",
            ],
        ),
        (
            {"failures": [{"kind": "gone", "at_event": 221}]},
            ["p:10: failures.0.at_event: got 221, expected an event of the plan, 1 to 220"],
        ),
        (
            {"failures": [{"kind": "gone", "at_event": 3}, {"kind": "slow", "at_event": 3}]},
            ["p:10: failures.1.at_event: got 3, expected another event than failures.0"],
        ),
        (
            {"failures": [{"kind": "Gone", "at_event": 3}]},
            [
                'p:10: failures.0.kind: got "Gone", expected one of gone, throttled, forbidden, slow, '
                "metrics_unavailable, slow_logs"
            ],
        ),
        (
            {"steady_events": 1},
            [
                "p:11: steady_events: got an unknown key, expected one of schema_version, id, seed, object_count, "
                "namespace_count, steady_events_per_second, duration_seconds, bursts, failures "
                "(did you mean steady_events_per_second?)"
            ],
        ),
    ],
)
def test_a_broken_rule_names_line_key_value_and_expectation(changes: dict[str, Any], expected: list[str]) -> None:
    assert errors(written(**changes)) == expected


def test_rules_between_sound_fields_are_checked_although_other_fields_are_broken() -> None:
    text = written(id="", namespace_count=7, bursts=[*SOUND["bursts"], *SOUND["bursts"]], failures=[{"kind": "x"}])
    assert errors(text) == [
        'p:3: id: got "", expected text of 1 to 128 characters',
        "p:5: object_count: got 100, expected a multiple of namespace_count (7)",
        "p:9: bursts.1: got seconds 2 to 5, expected no overlap with bursts.0 (seconds 2 to 5)",
        'p:10: failures.0.kind: got "x", expected one of gone, throttled, forbidden, slow, metrics_unavailable, '
        "slow_logs",
        "p:10: failures.0.at_event: got nothing, expected an integer from 1 to 10000000",
    ]


def test_a_rule_that_reads_a_broken_field_is_not_guessed_at() -> None:
    assert errors(
        written(namespace_count=0, duration_seconds="10", failures=[{"kind": "slow", "at_event": 10**6}])
    ) == [
        "p:6: namespace_count: got 0, expected an integer from 1 to 10000",
        'p:8: duration_seconds: got "10", expected an integer from 1 to 86400',
    ]


def test_a_list_of_thousands_of_equal_bursts_is_one_error_each_and_ends() -> None:
    burst = SOUND["bursts"][0]
    found = errors(written(bursts=[burst] * 8_000))
    assert len(found) == 51
    assert found[-1].startswith("… and 79")


def test_a_flag_is_named_where_it_broke_the_rule() -> None:
    with pytest.raises(UsageError) as caught:
        resolve_profile("smoke-1k", duration=0, seed=-1)
    assert list(caught.value.details) == [
        f"--seed: seed: got -1, expected an integer from 0 to {SEED}",
        "--duration: duration_seconds: got 0, expected an integer from 1 to 86400",
    ]


def test_a_shorter_duration_checks_every_rule_again() -> None:
    assert resolve_profile("steady-10k", duration=14).duration_seconds == 14
    with pytest.raises(UsageError, match=r"steady-10k:10: bursts\.0: got seconds 10 to 14, expected a burst that ends"):
        resolve_profile("steady-10k", duration=13)
    with pytest.raises(UsageError, match=r"failures\.0\.at_event: got 100, expected an event of the plan, 1 to 80"):
        resolve_profile("fail-gone-1k", duration=4)


def test_set_changes_one_field_and_the_later_one_wins() -> None:
    sets = ["bursts.0.start_second=3", 'id="other"', "bursts.1={\"start_second\":0,\"duration_seconds\":1,"
            "\"events_per_second\":9}", "seed=1", "seed=2"]  # fmt: skip
    profile = resolve_profile("smoke-1k", assignments=[parse_set(each) for each in sets], duration=6)
    assert (profile.id, profile.seed, profile.duration_seconds) == ("other", 2, 6)
    assert [burst.start_second for burst in profile.bursts] == [3, 0]


@pytest.mark.parametrize(
    ("sets", "expected"),
    [
        (["bursts.3.x=1"], ["--set: bursts.3.x: got no 3 there, expected a number from 0 to 1, where 1 adds one"]),
        (["bursts.x=1"], ['--set: bursts.x: got no "x" there, expected a number from 0 to 1, where 1 adds one']),
        (["id.x=1"], ['--set: id.x: got no "x" there, expected a mapping or list, not "mine"']),
        (
            ["bursts.0.start_second=true"],
            ["--set: bursts.0.start_second: got true, expected an integer from 0 to 86399"],
        ),
        (["object_count=1e2"], ["--set: object_count: got 100.0, expected an integer from 1 to 1000000"]),
        (["object_count=101"], ["--set: object_count: got 101, expected a multiple of namespace_count (4)"]),
    ],
)
def test_a_set_that_breaks_a_rule_is_named_as_such(sets: list[str], expected: list[str]) -> None:
    assert errors(written(), *sets) == expected


def test_a_plain_word_is_text_without_quotes() -> None:
    for text, value in (("id=mine", "mine"), ("id=true", True), ("id=null", None), ('id="true"', "true")):
        assert parse_set(text).value == value


@pytest.mark.parametrize(
    "text", ["seed", "=1", "a..b=1", "seed=", "id=a text", "seed=1 2", "seed=NaN", 'seed={"a":1,"a":2}']
)
def test_a_set_that_is_no_assignment_is_a_usage_error(text: str) -> None:
    with pytest.raises(UsageError, match="--set"):
        parse_set(text)


def test_an_unknown_profile_suggests_the_nearest() -> None:
    with pytest.raises(UsageError, match=r"or - for standard input \(did you mean steady-10k\?\)"):
        resolve_profile("stedy-10k")


BURSTS = st.lists(
    st.fixed_dictionaries(
        {
            "start_second": st.integers(-1, 12),
            "duration_seconds": st.integers(0, 12),
            "events_per_second": st.integers(0, 99),
        }
    ),
    max_size=3,
)
TEXTS = st.text(st.characters(max_codepoint=126), max_size=3)
CHANGES = st.dictionaries(
    st.sampled_from(list(SOUND)), st.one_of(st.integers(-2, 10**6), st.none(), TEXTS, BURSTS), max_size=3
)


@given(CHANGES)
def test_a_profile_that_is_accepted_can_be_planned_and_any_other_is_a_usage_error(changes: dict[str, Any]) -> None:
    text = json.dumps({**SOUND, **changes})
    try:
        profile = resolve_source(Source("p", text.encode()))
    except UsageError as error:
        with pytest.raises(ValueError, match=r"."):
            Plan(text)
        assert error.details
    else:
        if profile.object_count <= 10_000 and profile.duration_seconds <= 1_000:
            assert Plan(profile.to_json()).profile_json == profile.to_json()
