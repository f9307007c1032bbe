"""Sessions (`perfq.trajectory/v1`): read in each form, refused with every error at once, written and read again."""

from __future__ import annotations

import json
from typing import Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from perfq.cli.schema import schema_text
from perfq.errors import UsageError
from perfq.profile.source import Source
from perfq.profile.trajectory.fates import FATES, PROVENANCES, worst_provenance
from perfq.profile.trajectory.reading import is_profile, load_sessions
from perfq.profile.trajectory.trajectory import (
    Environment,
    ExecStep,
    Loss,
    Origin,
    Recorded,
    Trajectory,
    WaitStep,
)

EXAMPLE = """
{"schema": "perfq.trajectory/v1", "id": "task-1/run-3",
 "source": {"format": "mini-swe-agent-1.1", "wait_provenance": "recorded", "losses": []},
 "environment": {"workdir": "/testbed", "shell": ["bash", "-lc"], "session": "stateless", "env": {"A": "b"},
                 "resources": {"cpu_millis": 2000, "memory_bytes": 5368709120}},
 "steps": [{"kind": "exec", "id": "c0", "script": "ls -la",
            "recorded": {"offset_ms": 0, "duration_ms": 140, "exit_code": 0}},
           {"kind": "wait", "wait_ms": 7312, "reason": "think"},
           {"kind": "exec", "id": "c1", "script": "true", "timeout_ms": 30000}]}
"""


def sessions(text: str, name: str = "a.json") -> list[Trajectory]:
    return load_sessions(Source(name, text.encode()))


def errors(text: str, name: str = "a.json") -> list[str]:
    """What reading that text complains of, without the file's name."""
    with pytest.raises(UsageError) as caught:
        sessions(text, name)
    assert caught.value.exit_code == 2
    return [line.removeprefix(f"{name}:") for line in caught.value.details]


def session(*steps: str, more: str = "") -> str:
    """A session with these steps, which stand on the lines from 2 on."""
    lines = ",\n".join(steps)
    return f'{{"schema": "perfq.trajectory/v1", "id": "a",{more} "steps": [\n{lines}\n]}}'


EXEC = '{"kind": "exec", "id": "c0", "script": "true"}'


def test_a_session_is_commands_and_the_waits_between_them() -> None:
    (read,) = sessions(EXAMPLE)
    assert [step.kind for step in read.steps] == ["exec", "wait", "exec"]
    assert [command.script for command in read.commands] == ["ls -la", "true"]
    assert read.planned_wait_ms == 7312
    assert read.commands[0].recorded == Recorded(offset_ms=0, duration_ms=140, exit_code=0)


def test_what_is_left_out_has_its_documented_default() -> None:
    (read,) = sessions(session(EXEC))
    assert read.environment == Environment()
    assert read.environment.shell == ["bash", "-c"]
    assert read.commands[0].timeout_ms is None
    assert read.source is None


def test_json_lines_hold_a_session_and_then_one_step_a_line() -> None:
    first, *steps = ('{"schema": "perfq.trajectory/v1", "id": "a"}', EXEC, "", '{"kind": "wait", "wait_ms": 3}')
    (as_lines,) = sessions("\n".join([first, *steps]) + "\n", "a.jsonl")
    (as_one,) = sessions(session(EXEC, '{"kind": "wait", "wait_ms": 3}'))
    assert as_lines == as_one


def test_a_file_of_json_lines_may_hold_several_sessions() -> None:
    one = json.dumps(json.loads(EXAMPLE))
    first, second = sessions(f'{one}\n{{"schema": "perfq.trajectory/v1", "id": "b"}}\n{EXEC}\n', "two.jsonl")
    assert [first.id, second.id] == ["task-1/run-3", "b"]
    assert [len(first.steps), len(second.steps)] == [3, 1]


def test_errors_of_json_lines_name_the_line_of_each() -> None:
    text = "\n".join(
        [
            '{"schema": "perfq.trajectory/v1", "id": "a"}',
            EXEC,
            '{"kind": "wait", "wait_ms": -3}',
            '{"kind": "wait", "wait_ms": NaN}',
            '{"schema": "perfq.trajectory/v1", "id": ""}',
            '{"kind": "wait"}',
        ]
    )
    assert errors(text, "a.jsonl") == [
        "3: steps.1.wait_ms: got -3, expected an integer from 0 to 2592000000",
        "4: steps.2.wait_ms: got NaN, expected a finite number",
        '5: id: got "", expected text of 1 to 200 characters',
        "5: steps: got waits only, expected at least one exec",
        "6: steps.0.wait_ms: got nothing, expected an integer from 0 to 2592000000",
    ]


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        ("[1]", "2: got [1], expected a JSON object on each line"),
        ('{"a"', "2: got the end of the text, expected a colon"),
    ],
)
def test_a_line_that_is_no_json_object_is_named(line: str, complaint: str) -> None:
    (error,) = errors(f'{{"schema": "perfq.trajectory/v1", "id": "a"}}\n{line}\n', "a.jsonl")
    assert error.startswith(complaint)


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        (session('{"kind": "wait", "wait_ms": -1}', EXEC), "2: steps.0.wait_ms: got -1, expected an integer from 0 to"),
        (session('{"kind": "wait"}', EXEC), "2: steps.0.wait_ms: got nothing, expected an integer from 0 to"),
        (session('{"kind": "wait", "wait_ms": null}', EXEC), "2: steps.0.wait_ms: got null, expected an integer from"),
        (session('{"kind": "wait", "wait_ms": 7312.5}', EXEC), "2: steps.0.wait_ms: got 7312.5, expected an integer"),
        (session('{"kind": "wait", "wait_ms": true}', EXEC), "2: steps.0.wait_ms: got true, expected an integer from"),
        (
            session('{"kind": "wait", "wait": 1, "wait_ms": 1}', EXEC),
            "2: steps.0.wait: got an unknown key, expected one of kind, wait_ms, reason, provenance, p",
        ),
        (session('{"kind": "run"}', EXEC), '2: steps.0.kind: got "run", expected one of exec, wait'),
        (session('{"wait_ms": 1}', EXEC), "2: steps.0.kind: got nothing, expected one of exec, wait"),
        (session("7", EXEC), "2: steps.0: got 7, expected"),
        (session('{"kind": "exec", "id": "c"}'), "2: steps.0.script: got nothing, expected text of at least 1 char"),
        (
            session('{"kind": "exec", "id": "c", "script": ""}'),
            '2: steps.0.script: got "", expected text of at least 1',
        ),
        (
            session('{"kind": "exec", "id": "c", "script": "a\\u0000b"}'),
            '2: steps.0.script: got "a\\u0000b", expected text without NUL characters',
        ),
        (session('{"kind": "exec", "id": "c", "script": "\\ud800"}'), "2: steps.0.script: got"),
        (session(EXEC, EXEC), '3: steps.1.id: got "c0", expected an id that no other step has'),
        (
            session('{"kind": "exec", "id": "c", "script": "a", "timeout_ms": 0}'),
            "2: steps.0.timeout_ms: got 0, expected an integer from 1",
        ),
        (
            session('{"kind": "exec", "id": "c", "script": "a", "reset": true}'),
            "2: steps.0.reset: got true, expected false, as environment.session is not persistent",
        ),
        (session('{"kind": "wait", "wait_ms": 1}'), "1: steps: got waits only, expected at least one exec"),
        (session(more=' "x": 1,'), "1: steps: got [], expected a list of at least 1"),
        (
            session(EXEC, more=' "environment": {"workdir": "a"},'),
            '1: environment.workdir: got "a", expected an absolute',
        ),
        (session(EXEC, more=' "environment": {"env": {"A=": "a"}},'), "1: environment.env: got"),
        (
            session(EXEC, more=' "environment": {"shell": []},'),
            "1: environment.shell: got [], expected a list of at least",
        ),
        (
            session(EXEC, more=' "source": {"format": "x", "sha256": "7"},'),
            '1: source.sha256: got "7", expected text that',
        ),
        (
            '{"schema": "perfq.trajectory/v2", "id": "a", "steps": []}',
            '1: schema: got "perfq.trajectory/v2", expected perfq',
        ),
    ],
)
def test_an_error_is_named_with_its_line_the_value_seen_and_what_is_expected(text: str, complaint: str) -> None:
    assert any(line.startswith(complaint) for line in errors(text)), errors(text)


def test_all_errors_are_named_at_once_in_the_order_of_the_text() -> None:
    text = session('{"kind": "wait", "wait_ms": -1}', '{"kind": "exec", "id": "", "script": 3}', more=' "idd": 1,')
    assert [line.split(": got")[0] for line in errors(text)] == [
        "1: idd",
        "2: steps.0.wait_ms",
        "3: steps.1.id",
        "3: steps.1.script",
    ]


def test_a_document_is_told_by_its_schema() -> None:
    assert not is_profile(Source("a.json", EXAMPLE.encode()))
    assert is_profile(Source("a.yaml", b"schema: perfq.trajectory-profile/v1\n"))
    with pytest.raises(UsageError, match=r"got no schema, expected perfq\.trajectory-profile/v1 or perfq\.tr"):
        is_profile(Source("a.yaml", b"name: a\n"))
    with pytest.raises(UsageError, match=r'got schema "perfq\.budgets/v1", expected'):
        is_profile(Source("a.yaml", b"schema: perfq.budgets/v1\n"))


def test_the_provenance_of_a_session_is_the_worst_of_its_waits() -> None:
    assert worst_provenance({"recorded", "derived"}) == "derived"
    assert worst_provenance({"recorded"}) == "recorded"
    assert worst_provenance(set(PROVENANCES)) == "none"
    assert worst_provenance(set()) == "none"


text = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1, max_size=40)
names = st.text("abcXYZ019-_/.é", min_size=1, max_size=20)
recorded = st.builds(
    Recorded,
    offset_ms=st.none() | st.integers(0, 10**9),
    duration_ms=st.none() | st.integers(0, 10**9),
    exit_code=st.none() | st.integers(-1, 255),
    fate=st.sampled_from(["ran", "timed_out"]),
)
waits = st.builds(
    WaitStep,
    kind=st.just("wait"),
    wait_ms=st.integers(0, 10**9),
    reason=st.none() | names,
    provenance=st.none() | st.sampled_from(PROVENANCES),
)
scripts = st.tuples(text, st.none() | st.integers(1, 10**6), st.none() | recorded)


@st.composite
def documents(draw: st.DrawFn) -> Trajectory:
    """Any session that is sound."""
    steps: list[Any] = [
        ExecStep(kind="exec", id=f"c{number}", script=script, timeout_ms=timeout, recorded=said)
        for number, (script, timeout, said) in enumerate(draw(st.lists(scripts, min_size=1, max_size=5)))
    ]
    for wait in draw(st.lists(waits, max_size=4)):
        steps.insert(draw(st.integers(0, len(steps))), wait)
    origin = Origin(
        format=draw(names),
        losses=[
            Loss(at=at, fate=fate, why="x") for at, fate in draw(st.lists(st.tuples(names, st.sampled_from(FATES))))
        ],
        fates=draw(st.dictionaries(st.sampled_from(FATES), st.integers(0, 9))),
    )
    return Trajectory(
        schema="perfq.trajectory/v1", id=draw(names), source=draw(st.none() | st.just(origin)), steps=steps
    )


@given(documents())
def test_a_session_that_is_written_is_read_again_as_it_was(document: Trajectory) -> None:
    written = document.to_json()
    (read,) = sessions(written)
    assert read == document
    assert read.to_json() == written
    assert read.sha256 == document.sha256
    jsonschema.validate(json.loads(written), json.loads(schema_text("trajectory")))


def test_the_hash_of_a_session_is_that_of_what_it_means() -> None:
    (one,) = sessions(session(EXEC))
    (same,) = sessions(session('{"script": "true", "kind": "exec", "reset": false, "id": "c0"}'))
    (other,) = sessions(session(EXEC.replace("true", "false")))
    assert one.sha256 == same.sha256
    assert one.sha256 != other.sha256
