"""ATIF 1.0 to 1.7: one stamp a step, tools by agent, and what terminus' screens prove."""

from __future__ import annotations

import json
from typing import Any

import pytest
from tests.unit.trajectory.recordings import lost, refused, session, told

from perfq.trajectory.importers.atif import VERSIONS


def call(function: str = "bash", call_id: str = "c1", **arguments: Any) -> dict[str, Any]:
    return {"tool_call_id": call_id, "function_name": function, "arguments": arguments}


def result(content: Any = "out", call_id: str | None = "c1") -> dict[str, Any]:
    return {"content": content, **({} if call_id is None else {"source_call_id": call_id})}


def step(
    seconds: float | None, calls: list[dict[str, Any]], results: list[dict[str, Any]] | None = None, **more: Any
) -> dict[str, Any]:
    stamp = {} if seconds is None else {"timestamp": f"2025-10-16T14:30:{seconds:06.3f}Z"}
    observation = {} if results is None else {"observation": {"results": results}}
    return {"source": "agent", "message": "…", "tool_calls": calls, **stamp, **observation, **more}


def ran(seconds: float | None, function: str = "bash", content: Any = "out", **arguments: Any) -> dict[str, Any]:
    """A step with one call and its result."""
    return step(seconds, [call(function, **arguments)], [result(content)])


def recording(
    *steps: dict[str, Any], agent: str = "opencode", version: str = "ATIF-v1.6", **more: Any
) -> dict[str, Any]:
    numbered = [{"step_id": number, **one} for number, one in enumerate(steps, start=1)]
    return {
        "schema_version": version,
        "session_id": "s-1",
        "agent": {"name": agent, "version": "1"},
        "steps": numbered,
        **more,
    }


@pytest.mark.parametrize("version", VERSIONS)
def test_every_version_from_1_0_to_1_7_is_read(version: str) -> None:
    one = session(recording(ran(0, command="ls"), version=version))
    assert told(one) == [("ls", None)]
    assert one.trajectory.id == "s-1"
    assert one.trajectory.source is not None
    assert one.trajectory.source.format == version.replace("ATIF-v", "atif-")


@pytest.mark.parametrize("version", ["ATIF-v1.8", "ATIF-v2.0", "ATIF-v1", "ATIF-1.2"])
def test_other_versions_are_refused(version: str) -> None:
    assert refused(recording(ran(0, command="ls"), version=version)) == [
        f'schema_version: got "{version}", expected ATIF-v1.0 to ATIF-v1.7'
    ]


def test_a_wait_is_derived_as_the_command_before_is_in_it() -> None:
    one = session(recording(ran(0, command="ls"), ran(7.25, command="make")))
    assert told(one) == [("ls", None), ("7250 ms", "derived"), ("make", None)]
    assert all(
        command.recorded is not None and command.recorded.duration_ms is None for command in one.trajectory.commands
    )


def test_where_a_person_spoke_in_between_the_wait_says_so() -> None:
    person = {"source": "user", "message": "go on", "timestamp": "2025-10-16T14:30:05Z"}
    one = session(recording(ran(0, command="ls"), person, ran(9, command="make")))
    assert told(one)[1] == ("9000 ms", "recorded_with_prompts")


def test_steps_without_stamps_have_no_wait() -> None:
    value = recording(ran(None, command="ls"), ran(None, command="make"))
    assert refused(value)[0].startswith(
        "got no recorded wait before 1 action, first steps.1.tool_calls.0, expected --m"
    )
    assert told(session(value, "zero"))[1] == ("0 ms", "none")


def test_steps_that_were_stamped_when_they_were_converted_have_no_wait() -> None:
    steps = [ran(0.001, "swe_agent_action", raw_action="ls"), ran(0.002, "swe_agent_action", raw_action="open a.py")]
    value = recording(*steps, ran(0.003, "swe_agent_action", raw_action="make"), agent="swe-agent")
    assert refused(value)[0].startswith("got no recorded wait before 2 actions")
    one = session(value, "zero")
    assert told(one) == [("ls", None), ("0 ms", "none"), ("0 ms", "none"), ("make", None)]
    assert lost(one) == [
        ("steps.1.tool_calls.0", "ran", "a command of SWE-agent's editor (open), not of a shell"),
        ("agent.name", None, "its steps were stamped when they were converted, not when they happened"),
    ]


def test_results_are_paired_by_id_and_never_by_order() -> None:
    calls = [call(call_id="a", command="first"), call(call_id="b", command="second")]
    results = [result("Exit code 2\nx", "b"), result("Exit code 1\nx", "a")]
    one = session(recording(step(0, calls, results), ran(5, command="ls")))
    assert told(one) == [("first", 1), ("second", 2), ("5000 ms", "derived"), ("ls", None)]


def test_results_without_ids_belong_to_no_call_of_several() -> None:
    calls = [call(call_id="a", command="first"), call(call_id="b", command="second")]
    one = session(recording(step(0, calls, [result("x", None), result("y", None)]), ran(5, command="ls")))
    assert one.fates == {"ran": 1, "unknown": 2}
    alone = session(recording(step(0, [call(command="ls")], [result("x", None)])))
    assert told(alone) == [("ls", None)]


def test_a_call_without_a_result_is_not_known() -> None:
    one = session(recording(ran(0, command="ls"), step(1, [call(command="make")])))
    assert one.fates == {"ran": 1, "unknown": 1}


@pytest.mark.parametrize(
    ("content", "fate", "code"),
    [
        ("out", "ran", None),
        ("Exit code 2\nfailed", "ran", 2),
        ("Exit code: 0\nWall time: 0.1 seconds\nOutput:\nx", "ran", 0),
        ("Chunk ID: a\nWall time: 0.1 seconds\nProcess exited with code 3\nOutput:", "ran", 3),
        ("Chunk ID: a\nProcess running with session ID 7\nOutput:", "still_running", None),
        ("Command running in background with ID: b1", "still_running", None),
        ("Command timed out after 2m 0s", "timed_out", None),
        ("The user doesn't want to proceed with this tool use.", "rejected", None),
        ("<tool_use_error>InputValidationError", "refused", None),
        ([{"type": "text", "text": "Exit code 4"}, {"type": "image"}], "ran", 4),
        ("log\nCommand timed out after 2m", "ran", None),  # what a program printed
    ],
)
def test_results_say_what_became_of_a_call(content: Any, fate: str, code: int | None) -> None:
    one = session(recording(ran(0, command="true"), ran(1, content=content, command="x")))
    assert one.fates == ({"ran": 2} if fate == "ran" else {"ran": 1, fate: 1})
    if fate == "ran":
        assert told(one)[-1] == ("x", code)


def test_a_command_in_the_background_went_on_running() -> None:
    one = session(recording(ran(0, command="ls"), ran(1, "Bash", command="serve", run_in_background=True)))
    assert one.fates == {"ran": 1, "still_running": 1}


@pytest.mark.parametrize(
    ("agent", "kept", "kind"),
    [
        ("claude-code", "persistent", "Bash"),
        ("openhands", "persistent", "execute_bash"),
        ("codex", "stateless", "shell_command"),
        ("gemini-cli", "stateless", "run_shell_command"),
        ("mini-swe-agent", "stateless", "bash"),
        ("somebody", "stateless", "bash"),
    ],
)
def test_whether_a_shell_remembers_is_its_agents(agent: str, kept: str, kind: str) -> None:
    one = session(recording(ran(0, kind, command="ls"), agent=agent))
    assert one.trajectory.environment.session == kept
    assert (lost(one) != []) == (agent == "somebody")


def test_limits_are_in_the_units_of_their_tool() -> None:
    steps = [ran(0, "Bash", command="a", timeout=1500), ran(1, "execute_bash", command="b", timeout=1.5)]
    assert [one.timeout_ms for one in session(recording(*steps)).trajectory.commands] == [1500, 1500]


def test_openhands_in_atif_says_the_same_as_in_its_own_format() -> None:
    steps = [
        ran(0, "execute_bash", "x\n[The command completed with exit code 2.]", command="make"),
        ran(1, "execute_bash", "[The command has no new output after 30 seconds.", command="serve"),
        ran(2, "execute_bash", "", command="C-c", is_input="true"),
    ]
    one = session(recording(*steps, agent="openhands"))
    assert told(one) == [("make", 2)]
    assert one.fates == {"ran": 2, "still_running": 1}


@pytest.mark.parametrize(
    ("content", "fate", "code"),
    [
        ("<returncode>3</returncode>\n<output>\nx</output>", "ran", 3),
        (json.dumps({"returncode": -1, "output": ""}), "ran", -1),
        (json.dumps({"returncode": -1, "exception_info": "Command '…' timed out after 60 s"}), "timed_out", None),
        ("<exception>action was not executed</exception>\n<returncode>-1</returncode>", "never_executed", None),
        (json.dumps({"returncode": -1, "exception_info": "connection lost"}), "unknown", None),
    ],
)
def test_mini_swe_agent_in_atif_tells_the_causes_of_minus_one_apart(content: str, fate: str, code: int | None) -> None:
    one = session(recording(ran(0, command="true"), ran(1, content=content, command="x"), agent="mini-swe-agent"))
    assert one.fates == ({"ran": 2} if fate == "ran" else {"ran": 1, fate: 1})
    if fate == "ran":
        assert told(one)[-1] == ("x", code)


def test_the_command_with_which_mini_swe_agent_submits_did_run() -> None:
    submit = "echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT"
    content = json.dumps({"returncode": -1, "exception_info": "action was not executed"})
    steps = [ran(0, command="ls"), ran(1, content=content, command=submit)]
    assert told(session(recording(*steps, agent="mini-swe-agent")))[-1] == (submit, 0)


def test_an_argument_vector_is_a_command_only_where_a_shell_is_given_one() -> None:
    steps = [ran(0, "shell", command=["bash", "-lc", "ls | wc"]), ran(1, "shell", command=["ls", "-l"])]
    one = session(recording(*steps, agent="codex"))
    assert told(one) == [("ls | wc", None)]
    assert lost(one) == [("steps.1.tool_calls.0", "ran", "an argument vector, which no shell was given")]


def test_commands_in_another_directory_than_the_first_are_lost() -> None:
    steps = [ran(n, "shell_command", command=name, workdir=at) for n, name, at in ((0, "a", "/x"), (1, "b", "/y"))]
    one = session(recording(*steps, ran(2, "shell_command", command="c", workdir="/x"), agent="codex"))
    assert [command.script for command in one.trajectory.commands] == ["a", "c"]
    assert one.trajectory.environment.workdir == "/x"
    assert lost(one) == [("steps.1.tool_calls.0", "ran", "in another directory than the first command")]


def test_the_directory_of_an_agent_is_that_of_its_commands() -> None:
    value = recording(ran(0, "Bash", command="ls"), agent="claude-code")
    value["agent"]["extra"] = {"cwds": ["/workspace"]}
    assert session(value).trajectory.environment.workdir == "/workspace"


def test_other_tools_copied_steps_continuations_and_subagents_are_listed() -> None:
    copied = ran(0, command="ls") | {"is_copied_context": True}
    subagent = {"trajectory_id": "t", "steps": [ran(0, command="a"), ran(1, command="b")]}
    value = recording(
        copied,
        ran(1, "Edit", file="a"),
        ran(2, command="make"),
        version="ATIF-v1.7",
        continued_trajectory_ref="next.json",
        subagent_trajectories=[subagent],
    )
    one = session(value)
    assert told(one) == [("1000 ms", "derived"), ("make", None)]
    assert lost(one) == [
        ("steps.1.tool_calls.0", "ran", "not a known tool that runs commands (Edit)"),
        ("steps.0", None, "a step copied from another recording, where it happened"),
        ("continued_trajectory_ref", None, "the session goes on in another file"),
        ("subagent_trajectories.0", None, "the session of a subagent, with 2 steps"),
    ]


def typed(seconds: float, screen: str, *keystrokes: tuple[str, float]) -> dict[str, Any]:
    """A step of terminus: keystrokes with the pause behind each, and the screen after all of them."""
    calls = [
        call("bash_command", f"k{n}", keystrokes=keys, duration=pause) for n, (keys, pause) in enumerate(keystrokes)
    ]
    return step(seconds, calls, [result(f"New Terminal Output:\n\n{screen}", None)])


def test_keystrokes_ran_where_the_screen_shows_them_behind_a_prompt_and_a_prompt_after_them() -> None:
    one = session(
        recording(
            typed(
                1, "root@a:/app# cd src\nroot@a:/app/src# ls\na.c\nroot@a:/app/src# ", ("cd src\n", 0.1), ("ls\n", 0.1)
            ),
            typed(9, "root@a:/app/src# make\ncc a.c", ("make\n", 2.0)),
            typed(12, "done\nroot@a:/app/src# ", ("", 1.0)),
            agent="terminus-2",
        )
    )
    assert one.trajectory.environment.session == "persistent"
    # A step is stamped behind its pauses: 9 s - 2 s of pause - 1 s.
    assert told(one) == [("cd src\n", None), ("ls\n", None), ("6000 ms", "derived"), ("make\n", None)]
    assert lost(one) == [("steps.2.tool_calls.0", "ran", "a poll for more output")]


def test_keystrokes_that_the_screen_does_not_prove_are_not_known() -> None:
    one = session(
        recording(
            typed(1, "$ true\n$ ", ("true\n", 0.1)),
            typed(2, "$ python\n>>> ", ("python\n", 0.1)),
            typed(3, ">>> 1+1\n2\n>>> ", ("1+1\n", 0.1)),
            typed(4, ">>> ^C\n", ("C-c", 0.1)),
            typed(5, "$ half", ("half", 0.1)),
            typed(6, "$ sleep 50\n", ("sleep 50\n", 0.5)),
            agent="terminus-2",
        )
    )
    assert told(one) == [("true\n", None)]
    assert [(fate, why) for _, fate, why in lost(one)] == [
        (
            "still_running",
            "it went on running behind the actions that followed, which no replay of one after another has",
        ),
        ("unknown", "the screen does not show it behind a prompt"),
        ("ran", "a control key"),
        ("unknown", "keystrokes without the key that enters them"),
        ("unknown", "the screen does not show that it ended"),
    ]


def test_a_command_ended_where_a_later_screen_shows_the_next_one_behind_a_prompt() -> None:
    one = session(
        recording(
            typed(1, "# sleep 5\n", ("sleep 5\n", 5)), typed(20, "# ls\na\n# ", ("ls\n", 0.1)), agent="terminus-2"
        )
    )
    assert one.fates == {"ran": 2}
