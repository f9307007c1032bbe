"""mini-swe-agent 1.1: fates from causes and from what follows, batches under one stamp, waits and who sat in them."""

from __future__ import annotations

import hashlib
from typing import Any

import pytest
from tests.unit.trajectory.recordings import lost, refused, session, told

T0 = 1_780_000_000.0
TIMED_OUT: dict[str, Any] = {
    "returncode": -1,
    "exception_info": "An error occurred while executing the command: Command 'x' timed out after 60 seconds",
    "exception_type": "TimeoutExpired",
}
NOT_EXECUTED: dict[str, Any] = {"returncode": -1, "exception_info": "action was not executed", "raw_output": ""}


def asked(at: float | None, *commands: str, ids: bool = True, role: str = "assistant") -> dict[str, Any]:
    """A message of the model (or of a person) with commands, `at` seconds after the start."""
    actions = [
        {"command": command, **({"tool_call_id": f"call_{number}"} if ids else {})}
        for number, command in enumerate(commands)
    ]
    stamp = {} if at is None else {"timestamp": T0 + at}
    return {"role": role, "content": "…", "extra": {"actions": actions, **stamp}}


def answer(at: float, number: int = 0, *, ids: bool = True, **extra: Any) -> dict[str, Any]:
    """The result of a command."""
    said = {"raw_output": "", "returncode": 0, "exception_info": "", "timestamp": T0 + at, **extra}
    return {"role": "tool", "content": "…", "extra": said, **({"tool_call_id": f"call_{number}"} if ids else {})}


def interrupt(kind: str, text: str = "") -> dict[str, Any]:
    return {"role": "user", "content": text, "extra": {"interrupt_type": kind}}


SUBMITTED = {"role": "exit", "content": "", "extra": {"exit_status": "Submitted", "submission": ""}}
SUBMIT = "echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT"


def recording(*messages: dict[str, Any], agent: str = "DefaultAgent", **config: Any) -> dict[str, Any]:
    environment = {"cwd": "/testbed", "env": {"PAGER": "cat"}, "timeout": 60, "interpreter": ["bash", "-c"]}
    return {
        "info": {
            "mini_version": "2.2.7",
            "config": {
                "agent_type": f"minisweagent.agents.x.{agent}",
                "environment": {**environment, **config.pop("environment", {})},
                "environment_type": "minisweagent.environments.docker.DockerEnvironment",
                **config,
            },
        },
        "messages": [{"role": "system", "content": "s"}, {"role": "user", "content": "u"}, *messages],
        "trajectory_format": "mini-swe-agent-1.1",
        "instance_id": "astropy__astropy-1",
    }


def test_commands_and_the_waits_between_them_come_from_the_stamps() -> None:
    one = session(
        recording(
            asked(0, "ls"),
            answer(0.25, raw_output="a\n"),
            asked(5.75, "make", ids=False),
            {**answer(7.75, returncode=2, ids=False), "role": "user"},
        )
    )
    assert told(one) == [("ls", 0), ("5500 ms", "recorded"), ("make", 2)]
    assert one.fates == {"ran": 2}
    assert one.losses == []
    first, second = one.trajectory.commands
    assert first.recorded is not None
    assert second.recorded is not None
    assert (first.recorded.offset_ms, first.recorded.duration_ms) == (0, 250)
    assert (second.recorded.offset_ms, second.recorded.duration_ms) == (5750, 2000)
    assert first.timeout_ms == 60_000
    source = one.trajectory.source
    assert source is not None
    assert (source.format, source.wait_provenance) == ("mini-swe-agent-1.1", "recorded")


def test_no_output_is_imported_only_its_size_and_hash() -> None:
    output = "geheim é \ud800\n"
    one = session(recording(asked(0, "ls"), answer(1, raw_output=output)))
    recorded = one.trajectory.commands[0].recorded
    assert recorded is not None
    data = output.encode("utf-8", "surrogatepass")
    assert (recorded.output_bytes, recorded.output_sha256) == (len(data), hashlib.sha256(data).hexdigest())
    assert "geheim" not in one.trajectory.to_json()


def test_the_environment_is_that_of_the_configuration() -> None:
    environment = session(recording(asked(0, "ls"), answer(1))).trajectory.environment
    assert environment.workdir == "/testbed"
    assert environment.shell == ["bash", "-c"]
    assert environment.session == "stateless"
    assert environment.env == {"PAGER": "cat"}


@pytest.mark.parametrize(
    ("kind", "shell"),
    [("LocalEnvironment", ["/bin/sh", "-c"]), ("DockerEnvironment", ["bash", "-lc"]), ("Other", ["bash", "-c"])],
)
def test_the_shell_of_an_environment_that_names_none_is_that_of_its_kind(kind: str, shell: list[str]) -> None:
    kinds: dict[str, Any] = {"environment": {"interpreter": [], "cwd": ""}, "environment_type": f"minisweagent.{kind}"}
    one = session(recording(asked(0, "ls"), answer(1), **kinds))
    assert one.trajectory.environment.shell == shell
    assert one.trajectory.environment.workdir is None
    unknown = ("info.config.environment_type", None, "the shell is not known; bash -c is taken for it")
    assert (unknown in lost(one)) == (kind == "Other")


def test_what_a_process_cannot_be_given_is_lost_and_said() -> None:
    odd = {"env": {"A=B": "x", "C": "d\0", "N": 3}, "cwd": "src", "forward_env": ["TOKEN"]}
    one = session(recording(asked(0, "ls"), answer(1), environment=odd))
    assert one.trajectory.environment.env == {"N": "3"}
    assert [(at, why) for at, _, why in lost(one)] == [
        (
            "info.config.environment.forward_env",
            "variables that were forwarded from the host, whose values are not recorded",
        ),
        ("info.config.environment.cwd", "a directory that is not absolute"),
        ("info.config.environment.env.A=B", "a variable that no process can be given"),
        ("info.config.environment.env.C", "a variable that no process can be given"),
    ]


@pytest.mark.parametrize(
    ("result", "fate"),
    [
        ({"returncode": 0}, "ran"),
        ({"returncode": 127}, "ran"),
        ({"returncode": -9}, "ran"),  # killed by a signal
        ({"returncode": -1}, "ran"),  # by SIGHUP: there is no other cause
        (TIMED_OUT, "timed_out"),
        ({"returncode": -1, "exception_info": "…", "exception_type": "CommandTimeoutError"}, "timed_out"),
        ({"returncode": -1, "exception_info": "[Errno 7] Argument list too long", "exception_type": "OSError"},
         "never_executed"),
        (NOT_EXECUTED, "never_executed"),
        ({"returncode": -1, "exception_info": "connection lost", "exception_type": "ClientError"}, "unknown"),
        ({"returncode": None}, "unknown"),
    ],
)  # fmt: skip
def test_minus_one_means_what_its_cause_says(result: dict[str, Any], fate: str) -> None:
    one = session(recording(asked(0, "true"), answer(1), asked(2, "x"), answer(3, **result)))
    assert one.fates == ({"ran": 2} if fate == "ran" else {"ran": 1, fate: 1})
    assert [step.script for step in one.trajectory.commands] == (
        ["true", "x"] if fate in ("ran", "timed_out") else ["true"]
    )
    assert len(one.losses) == (0 if fate in ("ran", "timed_out") else 1)


def test_a_command_that_ran_into_its_limit_is_replayed_up_to_it() -> None:
    one = session(recording(asked(0, "sleep 99"), answer(60.1, **TIMED_OUT)))
    (command,) = one.trajectory.commands
    assert command.timeout_ms == 60_000
    assert command.recorded is not None
    assert (command.recorded.fate, command.recorded.exit_code) == ("timed_out", None)


def test_results_are_paired_by_id_and_never_by_order() -> None:
    one = session(recording(asked(0, "a", "b"), answer(1, 1, returncode=7), answer(1, 0, returncode=5)))
    assert told(one) == [("a", 5), ("b", 7)]


def test_a_batch_without_ids_is_not_guessed_at() -> None:
    one = session(
        recording(asked(0, "x"), answer(1), asked(2, "a", "b", ids=False), answer(3, ids=False), answer(3, ids=False))
    )
    assert one.fates == {"ran": 1, "unknown": 2}
    assert told(one) == [("x", 0)]


def test_ids_that_come_again_belong_to_their_own_message() -> None:
    one = session(recording(asked(0, "a"), answer(1, returncode=1), asked(2, "b"), answer(3, returncode=2)))
    assert told(one) == [("a", 1), ("1000 ms", "recorded"), ("b", 2)]


def test_an_id_that_two_actions_share_names_neither() -> None:
    message = asked(0, "a", "b")
    message["extra"]["actions"][1]["tool_call_id"] = "call_0"
    one = session(recording(asked(0, "x"), answer(0), message, answer(1)))
    assert one.fates == {"ran": 1, "unknown": 2}


def test_members_of_a_batch_have_no_duration_of_their_own_and_the_wait_begins_behind_the_last_result() -> None:
    one = session(
        recording(asked(0, "a", "b"), answer(3, 0), answer(3.5, 1), asked(10, "c"), answer(11)),
    )
    assert told(one) == [("a", 0), ("b", 0), ("6500 ms", "recorded"), ("c", 0)]
    durations = [step.recorded.duration_ms for step in one.trajectory.commands if step.recorded is not None]
    assert durations == [None, None, 1000]


def test_of_the_batch_that_submits_nothing_is_written_down() -> None:
    one = session(recording(asked(0, "x"), answer(1), asked(2, "make", SUBMIT, "rm x"), SUBMITTED))
    assert one.fates == {"ran": 3, "never_executed": 1}
    assert told(one) == [("x", 0), ("1000 ms", "recorded"), ("make", None), (SUBMIT, 0)]
    assert lost(one) == [("messages.4.extra.actions.2", "never_executed", "its turn never came")]


def test_where_it_cannot_be_told_which_command_submitted_only_the_first_did_run() -> None:
    one = session(recording(asked(0, "./submit", "a", "b"), SUBMITTED))
    assert one.fates == {"ran": 1, "unknown": 2}
    assert told(one) == [("./submit", None)]


def test_a_single_command_without_a_result_before_a_submission_is_the_one_that_submitted() -> None:
    assert told(session(recording(asked(0, "./submit"), SUBMITTED))) == [("./submit", 0)]


def test_a_session_that_an_exception_ended_does_not_say_what_became_of_the_last_command() -> None:
    stop = {"role": "exit", "content": "", "extra": {"exit_status": "RuntimeError"}}
    one = session(recording(asked(0, "x"), answer(1), asked(2, "make"), stop))
    assert one.fates == {"ran": 1, "unknown": 1}


def test_the_interactive_agent_shows_the_command_that_submitted_as_not_executed() -> None:
    padded = [answer(3, 0), answer(3, 1, **NOT_EXECUTED), answer(3, 2, **NOT_EXECUTED)]
    one = session(recording(asked(0, "make", SUBMIT, "rm x"), *padded, SUBMITTED, agent="InteractiveAgent"))
    assert told(one) == [("make", 0), (SUBMIT, 0)]
    assert one.fates == {"ran": 2, "never_executed": 1}


def test_a_person_may_go_on_after_a_submission() -> None:
    one = session(
        recording(
            asked(0, SUBMIT),
            answer(3, 0, **NOT_EXECUTED),
            interrupt("UserNewTask", "The user added a new task: more"),
            asked(9, "ls"),
            answer(10),
            agent="InteractiveAgent",
        )
    )
    assert told(one) == [(SUBMIT, 0), ("6000 ms", "recorded_with_prompts"), ("ls", 0)]


def test_commands_that_a_person_rejected_are_not_replayed() -> None:
    one = session(
        recording(
            asked(0, "x"),
            answer(1),
            asked(2, "rm -rf /", "ls"),
            answer(9, 0, **NOT_EXECUTED),
            answer(9, 1, **NOT_EXECUTED),
            interrupt("UserRejection", "Commands not executed. The user rejected your commands"),
            agent="InteractiveAgent",
        )
    )
    assert one.fates == {"ran": 1, "rejected": 2}


def test_a_command_that_a_person_interrupted_may_have_run() -> None:
    one = session(
        recording(
            asked(0, "x", "sleep 9", "ls"),
            answer(9, 0),
            answer(9, 1, **NOT_EXECUTED),
            answer(9, 2, **NOT_EXECUTED),
            interrupt("UserInterruption", "Interrupted by user: stop"),
            agent="InteractiveAgent",
        )
    )
    assert one.fates == {"ran": 1, "unknown": 1, "never_executed": 1}
    assert lost(one)[0][2] == "a person interrupted it, or before it began"


def test_a_reply_that_could_not_be_read_makes_the_wait_a_derived_one() -> None:
    one = session(recording(asked(0, "a"), answer(1), interrupt("FormatError"), asked(9, "b"), answer(10)))
    assert told(one) == [("a", 0), ("8000 ms", "derived"), ("b", 0)]


def test_an_agent_that_asks_a_person_has_no_durations_and_waits_with_prompts() -> None:
    one = session(recording(asked(0, "a"), answer(1), asked(9, "b"), answer(10), agent="InteractiveAgent"))
    assert told(one) == [("a", 0), ("8000 ms", "recorded_with_prompts"), ("b", 0)]
    assert all(step.recorded is not None and step.recorded.duration_ms is None for step in one.trajectory.commands)
    assert lost(one)[-1][0] == "info.config.agent_type"


def test_of_an_agent_that_is_not_known_waits_are_derived() -> None:
    one = session(recording(asked(0, "a"), answer(1), asked(9, "b"), answer(10), agent="MyAgent"))
    assert told(one)[1] == ("8000 ms", "derived")


def test_when_a_command_of_a_person_began_is_not_recorded() -> None:
    messages = (asked(0, "a"), answer(1), asked(None, "b", ids=False, role="user"), answer(9, ids=False))
    assert refused(recording(*messages, agent="InteractiveAgent")) == [
        "got no recorded wait before 1 action, first messages.4.extra.actions.0, expected --missing-wait zero or "
        "seeded, which says so in the result"
    ]
    assert told(session(recording(*messages, agent="InteractiveAgent"), "zero"))[1] == ("0 ms", "none")


def test_results_of_the_responses_api_are_read_as_well() -> None:
    result = answer(1, returncode=3, ids=False) | {"type": "function_call_output", "call_id": "call_0"}
    del result["role"]
    assert told(session(recording(asked(0, "a"), result))) == [("a", 3)]


def test_stamps_that_go_back_are_refused_by_name() -> None:
    assert refused(recording(asked(0, "a"), answer(1), asked(0.5, "b"), answer(2))) == [
        "messages.4.extra.timestamp: got a stamp 0.5 s before it, expected an instant that is not before "
        "messages.3.extra.timestamp"
    ]
    assert refused(recording(asked(3, "a"), answer(1))) == [
        "messages.3.extra.timestamp: got a stamp 2 s before it, expected an instant that is not before "
        "messages.2.extra.timestamp"
    ]
    assert len(refused(recording(asked(0, "a"), answer(1), asked(0.5, "b"), answer(2)), "zero")) == 1


@pytest.mark.parametrize(
    ("given", "complaint"),
    [
        ("mini-swe-agent-1", "got \"mini-swe-agent-1\", expected mini-swe-agent-1.1, which mini-swe-agent 2 writes"),
        ("mini-swe-agent-1.2", "got \"mini-swe-agent-1.2\", expected mini-swe-agent-1.1, which mini-swe-agent 2"),
        (1.1, "got 1.1, expected mini-swe-agent-1.1"),
    ],
)  # fmt: skip
def test_other_versions_are_refused(given: object, complaint: str) -> None:
    value = recording(asked(0, "a"), answer(1)) | {"trajectory_format": given}
    (error,) = refused(value)
    assert error.startswith(f"trajectory_format: {complaint}")


def test_the_messages_of_older_versions_alone_are_told_and_refused() -> None:
    assert refused([{"role": "system", "content": "s"}]) == ["trajectory_format: got null, expected mini-swe-agent-1.1"]
