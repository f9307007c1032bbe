"""OpenHands: events of V0 and V1, one shell that remembers, and the many meanings of -1."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.unit.trajectory.recordings import lost, refused, session, sessions, told

from perfq.errors import UsageError
from perfq.trajectory.importers.building import ImportOptions
from perfq.trajectory.importing import import_file

MORE = "You may wait longer to see additional output by sending empty command ''"
NO_OUTPUT = f"\n[The command has no new output after 30 seconds. {MORE}]"
LIMIT = f"\n[The command timed out after 5.5 seconds. {MORE}]"
NOT_TAKEN = '\n[Your command "x" is NOT executed. The previous command is still running - You CANNOT send new commands]'
UNREADABLE = "\n[The command completed but the exit code could not be determined. Terminal output may have corrupted]"
NO_PREVIOUS = "ERROR: No previous running command to retrieve logs from."
SEVERAL = "ERROR: Cannot execute multiple commands at once.\nPlease run each command separately"


def at(seconds: float) -> str:
    return f"2025-01-27T22:{int(seconds) // 60:02d}:{int(seconds) % 60:02d}.{round(seconds % 1 * 1000):03d}000"


class V0:
    """Events of V0, with ids in their order."""

    def __init__(self) -> None:
        self.events: list[dict[str, Any]] = []

    def add(self, seconds: float, **event: Any) -> int:
        self.events.append({"id": len(self.events), "timestamp": at(seconds), "source": "agent", **event})
        return len(self.events) - 1

    def run(self, seconds: float, command: str, *, timeout: float | None = None, **arguments: Any) -> int:
        limit = {} if timeout is None else {"timeout": timeout}
        given = {"command": command, "is_input": False, "confirmation_state": "confirmed", **arguments}
        return self.add(seconds, action="run", args=given, **limit)

    def result(self, seconds: float, cause: int, code: int = 0, suffix: str = "", content: str = "") -> None:
        metadata = {"exit_code": code, "suffix": suffix, "working_dir": "/workspace" if code != -1 else None}
        extras = {"command": "…", "metadata": metadata, "hidden": False}
        self.add(seconds, observation="run", cause=cause, content=content, extras=extras)

    def done(self, start: float, end: float, command: str, code: int = 0, **arguments: Any) -> None:
        self.result(
            end, self.run(start, command, **arguments), code, f"\n[The command completed with exit code {code}.]"
        )


def test_commands_of_v0_go_to_one_shell_that_remembers() -> None:
    v0 = V0()
    v0.add(0, source="user", action="message", args={"content": "do it"})
    v0.done(2, 2.5, "ls", 0)
    v0.done(7.25, 9, "cd src && make", 2)
    one = session(v0.events)
    assert told(one) == [("ls", 0), ("4750 ms", "recorded"), ("cd src && make", 2)]
    assert one.trajectory.environment.session == "persistent"
    assert one.trajectory.environment.workdir == "/workspace"
    recorded = one.trajectory.commands[1].recorded
    assert recorded is not None
    assert (recorded.offset_ms, recorded.duration_ms) == (5250, 1750)
    assert one.trajectory.source is not None
    assert one.trajectory.source.format == "openhands-v0"


def test_the_directory_is_not_guessed_where_the_first_command_changes_it() -> None:
    v0 = V0()
    v0.done(0, 1, "cd src && ls")
    assert session(v0.events).trajectory.environment.workdir is None


@pytest.mark.parametrize(
    ("code", "suffix", "content", "fate", "exit_code"),
    [
        (0, "", "", "ran", 0),
        (127, "\n[The command completed with exit code 127.]", "", "ran", 127),
        (0, "", SEVERAL, "ran", 0),  # what a program printed decides nothing where there is a code
        (-1, NO_OUTPUT, "", "still_running", None),
        (-1, LIMIT, "", "timed_out", None),
        (-1, NOT_TAKEN, "", "refused", None),
        (-1, "", NO_PREVIOUS, "refused", None),
        (-1, UNREADABLE, "", "ran", None),
        (-1, "\n[The command completed with exit code -1.]", "", "ran", None),
        (-1, "", "some output", "unknown", None),
    ],
)
def test_minus_one_means_what_the_sentence_behind_the_output_says(
    code: int, suffix: str, content: str, fate: str, exit_code: int | None
) -> None:
    v0 = V0()
    v0.done(0, 1, "true")
    v0.result(9, v0.run(2, "x"), code, suffix, content)
    one = session(v0.events)
    assert one.fates == ({"ran": 2} if fate == "ran" else {"ran": 1, fate: 1})
    replayed = {"ran": [("x", exit_code)], "timed_out": [("x", None)]}.get(fate, [])
    assert told(one)[2:] == replayed
    assert len(one.losses) == (0 if replayed else 1)


def test_the_limit_that_a_command_ran_into_is_that_of_its_replay() -> None:
    v0 = V0()
    v0.result(5.5, v0.run(0, "sleep 99", timeout=120), -1, LIMIT)
    v0.done(6, 7, "ls", timeout=120)
    assert [step.timeout_ms for step in session(v0.events).trajectory.commands] == [5_500, 120_000]


def test_control_keys_polls_and_input_are_never_run_as_commands() -> None:
    v0 = V0()
    v0.done(0, 1, "true")
    v0.result(9, v0.run(2, "python"), -1, NO_OUTPUT)
    for number, (text, is_input) in enumerate([("", False), ("1+1", "true"), ("C-c", True), ("C-d", False)]):
        v0.done(20 + number, 20.5 + number, text, 0, is_input=is_input)
    v0.done(50, 51, "ls")
    one = session(v0.events)
    assert [step.script for step in one.trajectory.commands] == ["true", "ls"]
    assert [why for _, _, why in lost(one)][1:] == [
        "a poll for more output",
        "input to a running command",
        "a control key",
        "a control key",
    ]
    # The waits around what is lost are kept.
    assert one.trajectory.planned_wait_ms == 1000 + 11_000 + 3 * 500 + 26_500


def test_actions_that_are_no_commands_are_listed_and_the_waits_around_them_kept() -> None:
    v0 = V0()
    v0.done(0, 1, "ls")
    v0.add(5, observation="edit", cause=v0.add(3, action="edit", args={"path": "a"}), content="", extras={})
    v0.add(6, action="think", args={"thought": "…"})
    v0.done(8, 9, "make")
    v0.add(12, action="finish", args={})
    one = session(v0.events)
    assert told(one) == [
        ("ls", 0),
        ("2000 ms", "recorded"),
        ("1000 ms", "recorded"),
        ("2000 ms", "recorded"),
        ("make", 0),
    ]
    assert lost(one) == [
        ("2", "ran", "not a shell command (edit)"),
        ("4", "ran", "not a shell command (think)"),
        ("7", "ran", "not a shell command (finish)"),
    ]
    assert one.actions == 5


def test_where_a_person_sat_in_between_the_wait_says_so() -> None:
    v0 = V0()
    v0.done(0, 1, "ls")
    v0.add(2, action="message", args={"content": "ok?"})
    v0.add(2.5, source="environment", observation="agent_state_changed", extras={"agent_state": "awaiting_user_input"})
    v0.add(60, source="user", action="message", args={"content": "yes"})
    v0.done(61, 62, "make")
    v0.done(65, 66, "id", source="user")
    one = session(v0.events)
    assert told(one)[1] == ("60000 ms", "recorded_with_prompts")
    assert one.trajectory.source is not None
    assert one.trajectory.source.wait_provenance == "recorded_with_prompts"


def test_a_command_that_a_person_typed_waited_for_that_person() -> None:
    v0 = V0()
    v0.done(0, 1, "ls")
    v0.result(61, v0.add(60, action="run", source="user", args={"command": "id"}), 0)
    assert told(session(v0.events))[1] == ("59000 ms", "recorded_with_prompts")


def test_another_request_of_a_model_in_between_makes_the_wait_a_derived_one() -> None:
    v0 = V0()
    v0.done(0, 1, "ls")
    v0.add(2, action="condensation", args={})
    v0.done(5, 6, "make")
    assert told(session(v0.events))[1] == ("4000 ms", "derived")


def test_an_action_that_waited_for_a_person_stands_again_once_it_is_confirmed() -> None:
    v0 = V0()
    v0.done(0, 1, "ls")
    v0.run(2, "rm x", confirmation_state="awaiting_confirmation")
    v0.done(9, 10, "rm x", confirmation_state="confirmed")
    v0.add(
        12,
        observation="user_rejected",
        cause=v0.run(11, "rm y", confirmation_state="rejected"),
        content="no",
        extras={},
    )
    one = session(v0.events)
    assert one.fates == {"ran": 2, "rejected": 1, "never_executed": 1}
    assert told(one)[2:4] == [("7000 ms", "recorded_with_prompts"), ("rm x", 0)]


def test_an_error_of_v0_is_a_refusal_only_where_it_says_so() -> None:
    v0 = V0()
    v0.done(0, 1, "ls")
    v0.add(2.5, observation="error", cause=v0.run(2, "a\nb"), content=SEVERAL, extras={})
    v0.add(4, observation="error", cause=v0.run(3, "c"), content="runtime went away", extras={})
    assert session(v0.events).fates == {"ran": 1, "refused": 1, "unknown": 1}


def test_an_action_without_a_result_is_not_replayed_and_the_wait_behind_it_is_missing() -> None:
    v0 = V0()
    v0.done(0, 1, "ls")
    v0.run(2, "reboot")
    v0.done(100, 101, "id")
    assert refused(v0.events)[0].startswith("got no recorded wait before 1 action, first 3, expected --missing-wait")
    assert told(session(v0.events, "zero"))[1:3] == [("1000 ms", "recorded"), ("0 ms", "none")]


def test_results_of_v0_are_paired_by_their_cause_and_actions_that_overlap_are_a_batch() -> None:
    v0 = V0()
    first, second = v0.run(0, "a"), v0.run(0.5, "b")
    v0.result(3, second, 2)
    v0.result(2, first, 1)
    v0.done(7, 8, "c", 3)
    one = session(v0.events)
    assert told(one) == [("a", 1), ("b", 2), ("4000 ms", "recorded"), ("c", 3)]
    durations = [step.recorded.duration_ms for step in one.trajectory.commands if step.recorded is not None]
    assert durations == [None, None, 1000]


def test_events_without_ids_are_not_paired_by_their_order() -> None:
    events = [{"action": "run", "args": {"command": "ls"}}, {"observation": "run", "content": "", "extras": {}}]
    assert refused(events) == ["0: unknown: the recording does not say what became of it"]


def test_stamps_with_and_without_a_zone_are_not_mixed() -> None:
    v0 = V0()
    v0.done(0, 1, "ls")
    v0.events[1]["timestamp"] += "Z"
    assert refused(v0.events) == ['1.timestamp: got "2025-01-27T22:00:01.000000Z", expected one without, as the others']


@pytest.mark.parametrize("wrap", [lambda events: {"trajectory": events}, lambda events: {"history": events}])
def test_events_may_stand_in_an_object(wrap: Any) -> None:
    v0 = V0()
    v0.done(0, 1, "ls")
    assert told(session(wrap(v0.events))) == [("ls", 0)]


def test_each_line_of_an_evaluation_is_a_session_of_its_own() -> None:
    v0 = V0()
    v0.done(0, 1, "ls")
    lines = [
        {"instance_id": "a-1", "history": v0.events},
        {"instance_id": "b-2", "history": [v0.events]},  # pairs, in older evaluations
        {"history": v0.events},
    ]
    text = "\n".join(json.dumps(line) for line in lines)
    assert [one.trajectory.id for one in sessions(text)] == ["a-1", "b-2", "r-2"]
    assert [one.losses for one in sessions(text)] == [[], [], []]


def evaluation(*sessions: tuple[str, list[dict[str, Any]]]) -> str:
    return "\n".join(json.dumps({"instance_id": name, "history": events}) for name, events in sessions)


def of_fate(confirmation: str) -> list[dict[str, Any]]:
    v0 = V0()
    v0.run(0, "rm x", confirmation_state=confirmation)
    return v0.events


def test_a_session_without_a_command_that_ran_is_lost_and_the_others_of_its_file_are_imported(tmp_path: Path) -> None:
    v0 = V0()
    v0.done(0, 1, "ls")
    path = tmp_path / "output.jsonl"
    path.write_text(evaluation(("a-1", v0.events), ("b-2", of_fate("rejected")), ("c-3", [])))
    imports = import_file(str(path), ImportOptions())
    assert [one.trajectory.id for one in imports.sessions] == ["a-1"]
    assert [(one.id, one.fates) for one in imports.lost] == [("b-2", {"rejected": 1}), ("c-3", {})]
    assert [(loss.at, loss.fate) for loss in imports.lost[0].losses] == [("1.history.0", "rejected")]


def test_a_file_in_none_of_whose_sessions_a_command_ran_is_refused_and_names_each() -> None:
    text = evaluation(("a-1", of_fate("rejected")), ("b-2", []))
    with pytest.raises(UsageError) as caught:
        sessions(text)
    assert str(caught.value).splitlines() == [
        "r.json: got 2 sessions of which nothing can be replayed, expected at least one command that ran",
        "session a-1: 1 rejected",
        "session b-2: no action at all",
    ]


def test_the_problems_of_all_sessions_of_a_file_are_named_at_once() -> None:
    v0 = V0()
    v0.done(0, 1, "a\0b")
    assert [
        line.split(":")[0] for line in refused(evaluation(("a-1", v0.events), ("b-2", []), ("c-3", v0.events)))
    ] == [
        "0.history.0.args.command",
        "2.history.0.args.command",
    ]


class V1:
    """Events of V1."""

    def __init__(self) -> None:
        self.events: list[dict[str, Any]] = []

    def add(self, seconds: float, kind: str, **event: Any) -> str:
        name = f"e{len(self.events)}"
        self.events.append({"id": name, "timestamp": at(seconds), "source": "agent", "kind": kind, **event})
        return name

    def run(self, seconds: float, command: str, response: str | None = None, **arguments: Any) -> str:
        action = {"kind": "TerminalAction", "command": command, "is_input": False, "reset": False, **arguments}
        call = f"call_{len(self.events)}"
        answer = response or f"response_{len(self.events)}"
        return self.add(
            seconds, "ActionEvent", action=action, tool_name="terminal", tool_call_id=call, llm_response_id=answer
        )

    def result(self, seconds: float, action: str, code: int | None = 0, suffix: str = "", **more: Any) -> None:
        metadata = {"exit_code": -1 if code is None else code, "suffix": suffix, "working_dir": "/repo"}
        observation = {
            "kind": "TerminalObservation",
            "content": [{"type": "text", "text": more.pop("text", "")}],
            "is_error": False,
            "exit_code": code,
            "metadata": metadata,
            **more,
        }
        self.add(seconds, "ObservationEvent", source="environment", action_id=action, observation=observation)

    def done(self, start: float, end: float, command: str, code: int = 0, **arguments: Any) -> None:
        self.result(end, self.run(start, command, **arguments), code)


def test_commands_of_v1_are_paired_by_the_id_of_their_action() -> None:
    v1 = V1()
    v1.add(0, "MessageEvent", source="user")
    v1.done(1, 1.5, "ls", 0, timeout=7.5)
    v1.add(2, "ConversationStateUpdateEvent", key="stats", value={})
    v1.done(4, 5, "make", 2)
    one = session(v1.events)
    assert told(one) == [("ls", 0), ("2500 ms", "recorded"), ("make", 2)]
    assert [step.timeout_ms for step in one.trajectory.commands] == [7_500, None]
    assert one.trajectory.environment.workdir == "/repo"
    assert one.trajectory.environment.session == "persistent"


@pytest.mark.parametrize(
    ("code", "suffix", "more", "fate"),
    [
        (0, "", {}, "ran"),
        (-1, NO_OUTPUT, {}, "still_running"),
        (-1, LIMIT, {}, "timed_out"),
        (-1, NOT_TAKEN, {"is_error": True}, "refused"),
        (-1, UNREADABLE, {}, "ran"),
        (None, "", {"is_error": True, "text": SEVERAL}, "refused"),
        (None, "", {"is_error": True, "text": "command looks like a list"}, "refused"),
        (-1, "", {"is_error": True, "text": "The terminal session was reset"}, "unknown"),
        (None, "", {}, "unknown"),
    ],
)
def test_the_results_of_v1_say_the_same_as_those_of_v0(
    code: int | None, suffix: str, more: dict[str, Any], fate: str
) -> None:
    v1 = V1()
    v1.done(0, 1, "true")
    v1.result(9, v1.run(2, "x"), code, suffix, **more)
    assert session(v1.events).fates == ({"ran": 2} if fate == "ran" else {"ran": 1, fate: 1})


def test_actions_of_one_answer_are_a_batch() -> None:
    v1 = V1()
    first, second = v1.run(0, "a", "r"), v1.run(0.002, "b", "r")
    v1.result(3, second, 2)
    v1.result(4, first, 1)
    v1.done(10, 11, "c")
    one = session(v1.events)
    assert told(one) == [("a", 1), ("b", 2), ("6000 ms", "recorded"), ("c", 0)]
    durations = [step.recorded.duration_ms for step in one.trajectory.commands if step.recorded is not None]
    assert durations == [None, None, 1000]


def test_rejections_errors_and_what_could_not_be_read_are_not_replayed() -> None:
    v1 = V1()
    v1.done(0, 1, "ls")
    for seconds, source in ((2, "user"), (4, "hook")):
        v1.add(seconds + 1, "UserRejectObservation", action_id=v1.run(seconds, "rm x"), rejection_source=source)
    v1.run(6, "boom")
    v1.add(7, "AgentErrorEvent", tool_call_id=v1.events[-1]["tool_call_id"], error="Error running the tool")
    v1.add(8, "ActionEvent", action=None, tool_name="termnal", tool_call_id="c", llm_response_id="r")
    v1.add(9, "AgentErrorEvent", tool_call_id="c", error="Tool 'termnal' not found")
    v1.done(20, 21, "id")
    one = session(v1.events)
    assert one.fates == {"ran": 2, "refused": 1, "rejected": 2, "unknown": 1}
    assert one.waits == {"recorded": 4, "recorded_with_prompts": 1}


def test_a_reset_begins_the_next_command_with_a_new_shell() -> None:
    v1 = V1()
    v1.done(0, 1, "cd /tmp")
    v1.done(2, 3, "", reset=True)
    v1.done(4, 5, "pwd")
    v1.done(6, 7, "id", reset=True)
    one = session(v1.events)
    assert [(step.script, step.reset) for step in one.trajectory.commands] == [
        ("cd /tmp", False),
        ("pwd", True),
        ("id", True),
    ]
    assert lost(one) == [("2", "ran", "a reset of the shell: the next command begins with a new one")]


def test_of_a_batch_that_a_person_was_asked_about_nothing_says_how_long_it_ran() -> None:
    v1 = V1()
    action = v1.run(0, "make")
    v1.add(0.1, "ConversationStateUpdateEvent", key="execution_status", value="waiting_for_confirmation")
    v1.result(60, action)
    recorded = session(v1.events).trajectory.commands[0].recorded
    assert recorded is not None
    assert recorded.duration_ms is None


def test_other_tools_of_v1_are_listed() -> None:
    v1 = V1()
    v1.done(0, 1, "ls")
    edit = v1.add(2, "ActionEvent", action={"kind": "FileEditorAction"}, tool_name="file_editor", llm_response_id="x")
    v1.add(3, "ObservationEvent", action_id=edit, observation={"kind": "FileEditorObservation"})
    assert lost(session(v1.events)) == [("2", "ran", "not a shell command (file_editor)")]


@pytest.mark.parametrize(
    ("names", "inner"), [(("event-00000-ab.json", "event-00001-cd.json"), "events"), (("2.json", "10.json"), "")]
)
def test_a_folder_of_event_files_is_a_recording(tmp_path: Path, names: tuple[str, str], inner: str) -> None:
    v1 = V1()
    v1.done(0, 1, "ls")
    folder = tmp_path / "conversation" / inner
    folder.mkdir(parents=True)
    for name, event in zip(names, v1.events, strict=True):
        (folder / name).write_text(json.dumps(event))
    (folder / "meta.json").write_text("{}")
    (one,) = import_file(str(tmp_path / "conversation"), ImportOptions()).sessions
    assert told(one) == [("ls", 0)]
    assert one.trajectory.id == "conversation"


def test_a_folder_without_events_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="got a folder without events"):
        import_file(str(tmp_path), ImportOptions())
