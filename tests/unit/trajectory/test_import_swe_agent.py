"""SWE-agent: one shell, no stamps, editor commands that no other sandbox has."""

from __future__ import annotations

import json
from typing import Any

import pytest
from tests.unit.trajectory.recordings import lost, refused, session, told

CANCELLED = "The command 'sleep 99' was cancelled because it took more than 30 seconds. Please try a different command"


def step(action: str, observation: str = "out", seconds: float | None = 0.25, **more: Any) -> dict[str, Any]:
    timed = {} if seconds is None else {"execution_time": seconds}
    state = {"state": {"working_dir": "/testbed", "open_file": "n/a"}}
    return {"action": action, "observation": observation, "response": "…", "thought": "…", **timed, **state, **more}


def recording(*steps: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"environment": "main", "trajectory": list(steps), "history": [], "info": {}, **more}


def test_every_wait_is_missing_and_what_stands_in_for_it_is_said() -> None:
    value = recording(step("ls"), step("make\n"))
    assert refused(value) == [
        "got no recorded wait before 1 action, first trajectory.1.action, expected --missing-wait zero or seeded, "
        "which says so in the result"
    ]
    assert told(session(value, "zero")) == [("ls", None), ("0 ms", "none"), ("make\n", None)]
    drawn = session(value, "seeded", seed=7)
    (_, (wait, provenance), _) = told(drawn)
    assert provenance == "synthetic"
    assert 2_000 <= int(wait.removesuffix(" ms")) <= 20_000
    assert drawn.filled == 1
    assert drawn.trajectory.source is not None
    assert (drawn.trajectory.source.wait_provenance, drawn.trajectory.source.missing_wait) == ("synthetic", "seeded")


def test_drawn_waits_follow_the_seed() -> None:
    value = recording(*(step(f"echo {number}") for number in range(9)))
    first, same, other = (session(value, "seeded", seed=seed).trajectory for seed in (1, 1, 2))
    assert first.to_json() == same.to_json()
    assert first.to_json() != other.to_json()


def test_a_session_of_one_command_needs_no_wait() -> None:
    assert told(session(recording(step("ls")))) == [("ls", None)]


def test_commands_go_to_one_shell_and_times_are_their_own() -> None:
    config = {"agent": {"tools": {"execution_timeout": 30, "env_variables": {"PAGER": "cat", "WINDOW": 100}}}}
    value = recording(step("ls", seconds=1.5), step("cd src"), replay_config=json.dumps(config))
    one = session(value, "zero").trajectory
    assert one.environment.session == "persistent"
    assert one.environment.workdir == "/testbed"
    assert one.environment.env == {"PAGER": "cat", "WINDOW": "100"}
    assert [command.timeout_ms for command in one.commands] == [30_000, 30_000]
    recorded = one.commands[0].recorded
    assert recorded is not None
    assert (recorded.duration_ms, recorded.exit_code, recorded.output_bytes) == (1500, None, 3)


def test_the_state_of_version_0_is_the_text_of_an_object() -> None:
    old = step("ls", seconds=None, state='{"open_file": "n/a", "working_dir": "/repo"}\n')
    one = session(recording(old)).trajectory
    assert one.environment.workdir == "/repo"
    assert one.source is not None
    assert one.source.format == "swe-agent-0"


@pytest.mark.parametrize(
    ("action", "why"),
    [
        ("open src/a.py 10", "a command of SWE-agent's editor (open), not of a shell"),
        ("edit 1:3\nx\nend_of_edit", "a command of SWE-agent's editor (edit), not of a shell"),
        ("cd src && find_file a.py", "a command of SWE-agent's editor (find_file), not of a shell"),
        ("str_replace_editor view /a", "a command of SWE-agent's editor (str_replace_editor), not of a shell"),
        ("submit", "a command of SWE-agent's editor (submit), not of a shell"),
        ("C-c", "a control key"),
    ],
)
def test_editor_commands_and_keys_are_not_shell(action: str, why: str) -> None:
    one = session(recording(step("ls"), step(action)))
    assert lost(one) == [("trajectory.1.action", "ran", why)]
    assert one.fates == {"ran": 2}


def test_words_inside_a_text_make_no_editor_command() -> None:
    script = "cat > a <<'EOF'\nedit me\nsubmit\nEOF"
    assert told(session(recording(step(script)))) == [(script, None)]
    assert told(session(recording(step("echo create; git submit-it")))) == [("echo create; git submit-it", None)]


def test_a_cancelled_command_timed_out_after_the_time_that_it_says() -> None:
    one = session(recording(step("sleep 99", CANCELLED, 31.0)))
    assert one.fates == {"timed_out": 1}
    (command,) = one.trajectory.commands
    assert command.timeout_ms == 30_000
    old = session(recording(step("sleep 99", "\nEXECUTION TIMED OUT", None)))
    assert old.fates == {"timed_out": 1}


def test_a_program_that_prints_the_same_words_did_not_time_out() -> None:
    assert session(recording(step("cat log", f"line\n{CANCELLED}"))).fates == {"ran": 1}


def test_what_was_not_taken_left_no_time_no_output_and_no_state() -> None:
    blocked = step("vim a", "", 0.0, state={})
    assert session(recording(step("ls"), blocked)).fates == {"ran": 1, "refused": 1}


def test_what_the_end_of_a_session_left_open_is_not_known() -> None:
    one = session(
        recording(step("ls"), step("make", "Environment died unexpectedly. Exited (autosubmitted)"), step("exit"))
    )
    assert one.fates == {"ran": 1, "refused": 1, "unknown": 1}


def test_a_step_without_an_action_is_said() -> None:
    one = session(recording(step("ls"), step("", "Exited (autosubmitted)")))
    assert lost(one) == [("trajectory.1", None, "a step without an action: a reply that could not be read, or the end")]


def test_a_demonstration_has_no_run_to_import() -> None:
    (error,) = refused({"history": [{"role": "system", "content": "s"}]})
    assert error.startswith("trajectory: got null, expected a list: a .traj file with the steps of a run")
