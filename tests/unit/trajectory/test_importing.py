"""What all importers share: files as other programs write them, waits that are never made up, all losses listed."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.trajectory.recordings import Missing, refused, session, told
from tests.unit.trajectory.test_import_atif import ran, typed
from tests.unit.trajectory.test_import_atif import recording as atif_recording
from tests.unit.trajectory.test_import_mini_swe_agent import answer, asked, recording
from tests.unit.trajectory.test_import_openhands import V0, V1
from tests.unit.trajectory.test_import_swe_agent import recording as swe_recording
from tests.unit.trajectory.test_import_swe_agent import step as swe_step

from perfq.errors import UsageError
from perfq.profile.source import Source
from perfq.profile.trajectory.fates import FATES
from perfq.profile.trajectory.reading import load_sessions
from perfq.profile.trajectory.trajectory import Environment, WaitStep
from perfq.trajectory.importers.actions import MISSING, NO_GAP, Action, Found, Gap
from perfq.trajectory.importers.building import REPLAYED, SEEDED_MS, Imported, ImportOptions, build
from perfq.trajectory.importers.recording import Node, Recording, parse_recording
from perfq.trajectory.importing import IMPORTERS, format_named, import_file, import_files, import_recording, tell


def mini(*commands: Any) -> dict[str, Any]:
    messages = []
    for number, command in enumerate(commands):
        messages += [asked(4 * number, command), answer(4 * number + 1)]
    return recording(*messages)


@pytest.mark.parametrize(
    ("command", "complaint"),
    [
        ("a\0b", 'got "a\\u0000b", expected a command without NUL characters'),
        ("a\ud800", "got text with a lone surrogate, expected a command without lone surrogates"),
        (7, "got 7, expected text"),
    ],
)
def test_a_command_that_no_process_can_be_given_is_refused_with_its_path(command: object, complaint: str) -> None:
    assert refused(mini("ls", command)) == [f"messages.4.extra.actions.0.command: {complaint}"]


def test_commands_are_never_altered() -> None:
    script = "  printf 'a\\r\\n' \r\n# \u2028 é\t\x1b[0m\n\n"
    one = session(mini(script))
    assert one.trajectory.commands[0].script == script
    (read,) = load_sessions(Source("a.json", one.trajectory.to_json().encode()))
    assert read.commands[0].script == script


def of_v0_tool(name: str) -> list[dict[str, Any]]:
    v0 = V0()
    v0.done(0, 1, "ls")
    v0.add(2, action=name, args={})
    v0.add(3, observation="edit", cause=2)
    return v0.events


def of_v1_tool(name: str) -> list[dict[str, Any]]:
    v1 = V1()
    v1.done(0, 1, "ls")
    edit = v1.add(2, "ActionEvent", action={"kind": "FileEditorAction"}, tool_name=name, llm_response_id="x")
    v1.add(3, "ObservationEvent", action_id=edit)
    return v1.events


@pytest.mark.parametrize(
    "value",
    [
        of_v0_tool("a\ud800\n"),
        of_v1_tool("a\ud800\n"),
        atif_recording(ran(0, "Bash", command="ls"), ran(1, "a\ud800\n"), agent="codex"),
    ],
)
def test_a_tool_of_an_odd_name_is_lost_and_its_name_is_escaped(value: Any) -> None:
    one = session(value)
    assert "(a\\ud800\\n)" in one.losses[-1].why
    assert load_sessions(Source("a.json", one.trajectory.to_json().encode())) == [one.trajectory]


@pytest.mark.parametrize("word", ["ba\0sh", "ba\ud800sh"])
def test_a_shell_that_no_process_can_be_given_is_refused_with_its_path(word: str) -> None:
    (complaint,) = refused(recording(asked(0, "ls"), answer(1), environment={"interpreter": [word, "-c"]}))
    assert complaint.startswith("info.config.environment.interpreter.0: got ")
    assert complaint.endswith(", expected an argument without NUL characters and lone surrogates")


@pytest.mark.parametrize(("version", "format_"), [("1.1\n", "swe-agent-1.1"), ("1\ud800", "swe-agent-1\\ud800")])
def test_the_version_of_a_recording_is_printable(version: str, format_: str) -> None:
    one = session(swe_recording(swe_step("ls"), info={"swe_agent_version": version}))
    assert one.trajectory.source is not None
    assert one.trajectory.source.format == format_


def test_what_is_not_read_may_hold_anything() -> None:
    value = mini("ls")
    value["messages"][0]["content"] = "\ud800 \0"
    value["info"]["model_stats"] = {"instance_cost": float("nan"), "big": 10**400}
    text = json.dumps(value).replace("\n", "\r\n")
    assert "NaN" in text
    assert told(session(text)) == [("ls", 0)]


def test_bytes_that_are_no_utf_8_are_refused_only_where_they_are_read(tmp_path: Path) -> None:
    unread, read = json.dumps(mini("ls")).encode(), json.dumps(mini("XX")).encode()
    (tmp_path / "unread.json").write_bytes(b"\xef\xbb\xbf" + unread.replace(b'"content": "s"', b'"content": "\xff"'))
    (tmp_path / "read.json").write_bytes(read.replace(b"XX", b"\xff"))
    assert len(import_file(str(tmp_path / "unread.json"), ImportOptions()).sessions) == 1
    with pytest.raises(UsageError) as caught:
        import_file(str(tmp_path / "read.json"), ImportOptions())
    assert "messages.2.extra.actions.0.command: got text with a lone surrogate" in caught.value.details[0]


def test_a_stamp_that_is_no_number_is_refused_with_its_path() -> None:
    value = mini("ls", "id")
    value["messages"][3]["extra"]["timestamp"] = float("nan")
    value["messages"][4]["extra"]["timestamp"] = "now"
    assert refused(value, "zero") == [
        'messages.3.extra.timestamp: got "nan", expected a finite number',
        'messages.4.extra.timestamp: got "now", expected a finite number',
    ]


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("", "r.json:1: got a text that is not JSON (Expecting value), expected a recording"),
        ('{"a": 1,\n "b" 2}', "r.json:2: got a text that is not JSON (Expecting ':' delimiter), expected a recording"),
        ('{"a": 1}\n{"a": 2}\n{"a": ', "r.json:3: got a text that is not JSON (Expecting value), expected a recording"),
        ('{"a": 1}\n\n{"a" 2}\n{}', "r.json:3: got a text that is not JSON (Expecting ':' delimiter)"),
        ('\n{\n"a": 1\n} 2', "r.json:4: got a text that is not JSON (Extra data), expected a recording"),
        ("[" * 100_000, "r.json: got a document that is too deep, expected a recording"),
        ("[" + "9" * 5000 + "]", "r.json: got a text that cannot be read (Exceeds the limit (4300 digits) for integer"),
        (
            "[1, 2]",
            "r.json: got a document of no format that is known, expected a recording of mini-swe-agent, openhands,",
        ),
        ("7", "r.json: got a document of no format that is known"),
        ('{"trajectory": []}', "r.json: got a document of no format that is known"),
    ],
)
def test_a_text_that_is_no_recording_is_refused(text: str, complaint: str) -> None:
    with pytest.raises(UsageError) as caught:
        recording = parse_recording(Source("r.json", text.encode()), "r")
        tell(recording)
    assert str(caught.value).startswith(complaint)


@pytest.mark.parametrize("format_", IMPORTERS)
@pytest.mark.parametrize(
    "value", [{}, [], {"steps": 3}, {"messages": {}}, {"history": 7}, {"trajectory": [7]}, [[]], 7]
)
def test_a_document_of_another_shape_is_refused_and_never_a_traceback(format_: str, value: Any) -> None:
    assert refused(value, format_=format_)


def of_v0() -> list[dict[str, Any]]:
    v0 = V0()
    v0.done(0, 1, "ls")
    v0.done(4, 5, "make", 2, timeout=9)
    v0.add(6, action="edit", args={})
    v0.add(7, observation="edit", cause=4)
    v0.add(8, action="finish", args={})
    return v0.events


def of_v1() -> list[dict[str, Any]]:
    v1 = V1()
    v1.done(0, 1, "ls")
    v1.done(4, 5, "make", 2, reset=True)
    edit = v1.add(6, "ActionEvent", action={"kind": "FileEditorAction"}, tool_name="file_editor", llm_response_id="x")
    v1.add(7, "ObservationEvent", action_id=edit)
    return v1.events


SOUND: dict[str, Any] = {
    "mini-swe-agent": recording(asked(0, "a", "b"), answer(1, 0), answer(1, 1), asked(2, "c"), answer(3)),
    "openhands": of_v0(),
    "openhands v1": of_v1(),
    "swe-agent": swe_recording(
        swe_step("ls"), swe_step("submit"), replay_config="{}", info={"swe_agent_version": "1.1"}
    ),
    "atif": atif_recording(
        ran(0, "Bash", command="ls"), ran(1, "shell", command=["bash", "-c", "x"]), ran(2, "Read"), agent="codex"
    ),
    "atif of terminus": atif_recording(typed(1, "$ ls\n$ ", ("ls\n", 1)), agent="terminus-2"),
}
#: Lone surrogates, which JSON can have, and what no process and no terminal can be given.
ODD_TEXTS = ("\ud800", "a\udfffb", "\0", "1.1\n", "x" * 300, "")
odd_texts = st.text(st.characters(), max_size=3) | st.sampled_from(ODD_TEXTS)
odd_values = st.recursive(
    odd_texts | st.none() | st.booleans() | st.integers() | st.floats() | st.just(10**400),
    lambda below: st.lists(below, max_size=2) | st.dictionaries(odd_texts, below, max_size=2),
    max_leaves=4,
)


@given(st.sampled_from(sorted(SOUND)), st.lists(st.tuples(st.integers(0, 10**6), odd_values), min_size=1, max_size=3))
def test_whatever_stands_in_a_field_an_import_gives_sessions_or_a_usage_error(
    which: str, changes: list[tuple[int, Any]]
) -> None:
    value = copy.deepcopy(SOUND[which])
    for place, odd in changes:
        places = list(inner_places(value))
        above, key = places[place % len(places)]
        above[key] = odd
    gives_sessions_or_a_usage_error(which, value)


@pytest.mark.parametrize("which", SOUND)
@pytest.mark.parametrize("odd", ODD_TEXTS)
def test_whatever_text_stands_in_any_one_field_an_import_gives_sessions_or_a_usage_error(which: str, odd: str) -> None:
    for place in range(len(list(inner_places(SOUND[which])))):
        value = copy.deepcopy(SOUND[which])
        above, key = list(inner_places(value))[place]
        above[key] = odd
        gives_sessions_or_a_usage_error(which, value)


def gives_sessions_or_a_usage_error(which: str, value: Any) -> None:
    """Imports a changed recording: sessions that can be read again, with every action replayed or lost; or an error."""
    try:
        recording = Recording("r", "r", value, "0" * 64)
        imports = import_recording(recording, ImportOptions("zero"), which.split(maxsplit=1)[0])
        for lost in imports.lost:
            assert sum(loss.fate is not None for loss in lost.losses) == lost.actions
        for one in imports.sessions:
            assert load_sessions(Source("a.json", one.trajectory.to_json().encode())) == [one.trajectory]
            assert len(one.trajectory.commands) + sum(loss.fate is not None for loss in one.losses) == one.actions
    except UsageError as error:
        assert str(error).encode()


def inner_places(value: Any) -> Iterator[tuple[Any, Any]]:
    """Every mapping and list in a value, with each of its keys."""
    for key, below in list(value.items() if isinstance(value, dict) else enumerate(value)):
        yield value, key
        if isinstance(below, (dict, list)):
            yield from inner_places(below)


gaps = st.one_of(
    st.just(NO_GAP),
    st.just(MISSING),
    st.builds(Gap, st.just("known"), st.integers(0, 10**10), st.sampled_from(["recorded", "derived"])),
)


@st.composite
def found_actions(draw: st.DrawFn) -> list[Action]:
    """Actions of any fate with any gaps; at least one of them is replayed."""
    root = Recording("r", "r", None, "0" * 64)
    actions = []
    for number, (fate, gap, why) in enumerate(
        draw(st.lists(st.tuples(st.sampled_from(FATES), gaps, st.none() | st.just("a control key")), max_size=12))
    ):
        actions.append(Action((number,), fate, Node(f"echo {number}", (number,), root), why, before=gap))
    actions.insert(draw(st.integers(0, len(actions))), Action((99,), "ran", Node("true", (99,), root), before=NO_GAP))
    return actions


def built(actions: list[Action], missing: Missing, seed: int = 0) -> Imported:
    recording = Recording("r", "r", None, "0" * 64)
    found = Found("x", "s", actions, Environment())
    one = build(recording, found, ImportOptions(missing, seed))
    recording.refuse_if_flawed()
    assert isinstance(one, Imported)
    return one


def replayed(action: Action) -> bool:
    return action.fate in REPLAYED and action.why is None


@given(found_actions())
def test_importing_never_invents_a_wait(actions: list[Action]) -> None:
    last = max(number for number, action in enumerate(actions) if replayed(action))
    first = next(number for number, action in enumerate(actions) if replayed(action))
    before = actions[: last + 1]
    known = [action.before.us // 1_000 for action in before if action.before.kind == "known"]
    missing = [n for n, action in enumerate(before) if action.before.kind == "missing" and n > first]
    zero = built(actions, "zero")
    waits = [step for step in zero.trajectory.steps if isinstance(step, WaitStep)]
    assert [wait.wait_ms for wait in waits if wait.provenance != "none"] == known
    assert [wait.wait_ms for wait in waits if wait.provenance == "none"] == [0] * len(missing)
    assert zero.filled == len(missing)
    if missing:
        with pytest.raises(UsageError, match="no recorded wait before"):
            built(actions, "reject")
    else:
        assert built(actions, "reject").trajectory.steps == zero.trajectory.steps


@given(found_actions(), st.integers(0, 9))
def test_drawn_waits_say_that_they_were_drawn_and_follow_the_seed(actions: list[Action], seed: int) -> None:
    seeded, zero = built(actions, "seeded", seed), built(actions, "zero")
    assert seeded.trajectory == built(actions, "seeded", seed).trajectory
    drawn = [step for step in seeded.trajectory.steps if isinstance(step, WaitStep) and step.provenance == "synthetic"]
    assert len(drawn) == zero.filled
    assert all(SEEDED_MS[0] <= step.wait_ms <= SEEDED_MS[1] for step in drawn)


@given(found_actions())
def test_every_action_is_replayed_or_lost_and_counted_by_its_fate(actions: list[Action]) -> None:
    one = built(actions, "zero")
    assert len(one.trajectory.commands) + len(one.losses) == one.actions == len(actions)
    assert [command.script for command in one.trajectory.commands] == [
        action.script.value for action in actions if replayed(action) and action.script is not None
    ]
    assert {fate: sum(action.fate == fate for action in actions) for fate in one.fates} == one.fates


def test_a_wait_behind_the_last_command_is_no_wait() -> None:
    value = mini("ls", "id")
    value["messages"][5]["extra"] |= {"returncode": -1, "exception_info": "lost"}
    assert told(session(value)) == [("ls", 0)]


def test_hours_are_kept_in_full_and_flagged() -> None:
    value = recording(asked(0, "a"), answer(1), asked(3601, "b"), answer(3602), asked(7201, "c"), answer(7202))
    one = session(value)
    assert [(wait.at, wait.wait_ms) for wait in one.long_waits] == [("messages.4.extra.actions.0", 3_600_000)]
    assert one.trajectory.planned_wait_ms == 3_600_000 + 3_599_000


def test_a_wait_beyond_all_use_is_refused() -> None:
    (error,) = refused(recording(asked(0, "a"), answer(1), asked(9e6, "b"), answer(9e6)))
    assert error == "got 8999999000 ms before messages.4.extra.actions.0, expected waits of at most 2592000000 ms"


def test_a_recording_in_which_nothing_ran_says_what_became_of_it() -> None:
    value = mini("ls")
    value["messages"][3]["extra"] |= {"returncode": -1, "exception_info": "lost"}
    with pytest.raises(UsageError) as caught:
        session(value)
    assert caught.value.sentence == (
        "r.json: got nothing that can be replayed (1 unknown), expected at least one command that ran"
    )
    assert caught.value.details == (
        "messages.2.extra.actions.0: unknown: the recording does not say what became of it",
    )


def test_an_empty_command_is_lost() -> None:
    one = session(mini("ls", " \n"))
    assert [(loss.fate, loss.why) for loss in one.losses] == [("ran", "an empty command")]


def test_what_is_imported_is_a_session_with_the_hash_of_its_recording(tmp_path: Path) -> None:
    path = tmp_path / "x.traj.json"
    path.write_text(json.dumps(mini("ls")))
    (one,) = import_file(str(path), ImportOptions()).sessions
    (read,) = load_sessions(Source("a.json", one.trajectory.to_json().encode()))
    assert read == one.trajectory
    assert read.source is not None
    assert read.source.sha256 is not None
    assert one.name == str(path)


def test_the_name_of_a_file_names_a_session_that_has_no_name(tmp_path: Path) -> None:
    value = mini("ls")
    del value["instance_id"]
    path = tmp_path / "my run.traj.json"
    path.write_text(json.dumps(value))
    assert import_file(str(path), ImportOptions()).sessions[0].trajectory.id == "my run"


def test_all_problems_of_all_files_are_named_at_once(tmp_path: Path) -> None:
    for name, value in (("a", mini("a\0")), ("b", mini("ls")), ("c", 7)):
        (tmp_path / f"{name}.json").write_text(json.dumps(value))
    paths = [str(tmp_path / f"{name}.json") for name in "abc"]
    with pytest.raises(UsageError) as caught:
        import_files(paths, ImportOptions())
    assert caught.value.sentence == "2 of 3 recordings cannot be imported"
    assert len(caught.value.details) == 3
    with pytest.raises(UsageError, match=r"a\.json has 1 error"):
        import_files(paths[:2], ImportOptions())


def test_a_format_that_is_not_known_is_named_with_the_nearest() -> None:
    assert format_named("atif") == "atif"
    with pytest.raises(UsageError, match=r"--format: got openhand, expected .* \(did you mean openhands\?\)"):
        format_named("openhand")
