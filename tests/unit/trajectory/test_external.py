"""Sessions in sandboxes of the user's own runtime: real ones of bubblewrap, by the example in docs/examples."""

from __future__ import annotations

import json
import os
import subprocess
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.unit.trajectory.plans import command, plan, wait
from tests.unit.trajectory.runs import Runs

from perfq.errors import UsageError
from perfq.trajectory.cgroup import run_group
from perfq.trajectory.cgroup.run_group import RunGroup
from perfq.trajectory.external.answer import Answer, find, parse
from perfq.trajectory.external.argv import filled
from perfq.trajectory.ground import refuse

Backend = Callable[..., dict[str, Any]]


@pytest.fixture
def bubblewrap(need_program: Callable[[str], str], need: Callable[[bool, str], None], repository: Path) -> Backend:
    for program in ("bwrap", "nsenter", "setpriv"):
        need_program(program)
    need(os.geteuid() == 0, "the example needs root")
    script = str(repository / "docs" / "examples" / "trajectory" / "bubblewrap.sh")

    def backend(**changes: Any) -> dict[str, Any]:
        argvs = {f"{name}_argv": [script, name] for name in ("launch", "stop", "pause", "resume")}
        return {"kind": "command", **argvs, "exec_argv": [script, "exec", "{workdir}", "{script}"], **changes}

    return backend


def own(**changes: Any) -> dict[str, Any]:
    """A runtime of nothing: its sandbox is a process that sleeps, and does so when it is launched."""
    asleep = "until grep -q State:.S /proc/$!/status; do :; done"
    launch = f'sleep 600 >/dev/null 2>&1 & echo $! > pid; {asleep}; echo "{{\\"pid\\": $!}}"'
    return {
        "kind": "command",
        "launch_argv": ["sh", "-c", launch],
        "exec_argv": ["sh", "-c", "{script}"],
        "stop_argv": ["sh", "-c", "kill $(cat pid)"],
        **changes,
    }


def text(runs: Runs, n: int = 0) -> list[tuple[object, ...]]:
    return [(line["outcome"], line["exit_code"], line["signal"]) for line in runs.of("tj_command") if line["n"] == n]


def test_each_item_has_its_words_replaced_once_and_the_script_s_own_braces_stay() -> None:
    words = {"session": "s-1", "workdir": "/w", "script": "echo {workdir} {x}"}
    argv = ["docker", "exec", "-w", "{workdir}", "{session}", "sh", "-c", "{script}", "{other}"]
    assert filled(argv, words) == ["docker", "exec", "-w", "/w", "s-1", "sh", "-c", "echo {workdir} {x}", "{other}"]
    assert filled(["{session}{script}"], {"session": "s"}) == ["s{script}"]


def test_the_path_of_a_program_counts_from_the_profile_s_folder_and_a_name_does_not() -> None:
    assert filled(["./x/run.sh", "./a"], {}, Path("/p")) == ["/p/x/run.sh", "./a"]
    assert filled(["/bin/x"], {}, Path("/p")) == ["/bin/x"]
    assert filled(["docker"], {}, Path("/p")) == ["docker"]


def test_the_answer_is_one_line_among_the_runtime_s_own_talk() -> None:
    assert parse('pulling…\n{"level": "info"}\n{"pid": 7}\ndone\n') == Answer(pid=7)
    assert parse('{"cgroup": "/a/b"}\n') == Answer(cgroup="/a/b")


@pytest.mark.parametrize(
    "output",
    [
        "",
        "7\n",
        '{"pid": 7}\n{"pid": 8}\n',
        '{"pid": "7"}\n',
        '{"pid": 0}\n',
        '{"pid": true}\n',
        '{"cgroup": "a"}\n',
        '{"pid": 7, "cgroup": "/a"}\n',
    ],
)
def test_any_other_answer_is_refused_with_what_was_expected(output: str) -> None:
    with pytest.raises(ValueError, match="expected one JSON line"):
        parse(output)


def test_a_process_that_cannot_be_a_sandbox_is_refused() -> None:
    with pytest.raises(ValueError, match="perfq itself, or what it was started by"):
        find(Answer(pid=os.getppid()))
    with pytest.raises(ValueError, match="no process 2147483647"):
        find(Answer(pid=2**31 - 1))
    with pytest.raises(ValueError, match="there is no cgroup"):
        find(Answer(cgroup="/no/such/group"))
    with pytest.raises(ValueError, match="holds perfq itself"):
        find(Answer(cgroup="/"))


def test_the_same_session_runs_in_real_sandboxes_with_its_exit_codes_and_every_audit_passes(
    grouped: Runs, bubblewrap: Backend
) -> None:
    steps = [command("echo a > f"), wait(20), command("cat f && exit 3", "d"), command("kill -SEGV $$", "e")]
    played = grouped.play(plan(*[steps] * 3, backend=bubblewrap()))
    assert [lived.fate for lived in played.outcome.sessions] == ["completed"] * 3
    assert text(grouped) == [("done", 0, None), ("done", 3, None), ("done", 139, None)]
    assert (grouped.audits("fail"), grouped.audits("unknown"), played.left) == ([], [], [])
    assert all(lived.closed for lived in played.outcome.sessions)
    assert grouped.left() == []


def test_a_sandbox_has_no_network_and_the_recording_s_directory_in_a_folder_of_its_own(
    grouped: Runs, bubblewrap: Backend
) -> None:
    script = "test $(pwd) = /mnt/testbed && test $(grep -c : /proc/net/dev) = 1 && ! touch /etc/x && test $$ -lt 50"
    planned = plan([command(script)], backend=bubblewrap())
    session = planned.sessions[0].trajectory
    object.__setattr__(session, "environment", session.environment.model_copy(update={"workdir": "/testbed"}))
    grouped.play(planned)
    assert text(grouped) == [("done", 0, None)]


def test_a_timeout_is_clean_once_nothing_of_the_command_runs_in_the_sandbox(grouped: Runs, bubblewrap: Backend) -> None:
    hostile = command("trap '' TERM; setsid env -i sleep 601 & while :; do sleep 0.05; done", timeout_ms=500)
    steps = [hostile, command("test $(pgrep -xc sleep) = 1", "d")]
    played = grouped.play(plan(steps, backend=bubblewrap(), command={"term_grace_ms": 100, "clean_timeout_ms": 30_000}))
    assert [line["outcome"] for line in grouped.of("tj_command")] == ["timed_out_cleaned", "done"]
    assert grouped.of("tj_command")[1]["exit_code"] == 0
    assert played.outcome.sessions[0].fate == "completed"
    assert grouped.audits("fail") == []


def test_a_wait_with_freeze_pauses_by_the_runtime_s_commands_and_what_ran_goes_on_afterwards(
    grouped: Runs, bubblewrap: Backend
) -> None:
    ticking = "(while :; do echo >> ticks; sleep 0.01; done) >/dev/null 2>&1 &"
    look = "a=$(wc -l < ticks); sleep 0.3; test $(wc -l < ticks) -gt $a"
    planned = plan([command(ticking), wait(200), command(look, "d")], wait={"mode": "freeze"}, backend=bubblewrap())
    played = grouped.play(planned)
    assert text(grouped) == [("done", 0, None)] * 2
    waited = grouped.of("tj_wait")[0]
    assert waited["due"] - waited["sleep_begin"] == 200_000_000
    assert waited["pause_begin"] < waited["pause_end"] <= waited["woken"] <= waited["resume_begin"]
    assert played.outcome.sessions[0].closed


def test_memory_is_moved_out_only_where_all_of_the_sandbox_sleeps(grouped: Runs) -> None:
    argv = {"offload_argv": ["sh", "-c", "echo out >> moves"], "restore_argv": ["sh", "-c", "echo in >> moves"]}
    steps = [wait(10), command("cat moves"), wait(10, pause="idle")]
    grouped.play(plan(steps, wait={"mode": "offload"}, backend=own(**argv)))
    assert text(grouped) == [("done", 0, None)]
    assert [line["refused"] for line in grouped.of("tj_wait")] == [None, None]
    launch = 'sh -c \'while :; do :; done\' >/dev/null 2>&1 & echo $! > pid; echo "{\\"pid\\": $!}"'
    grouped.play(
        plan(
            [wait(10), command("cat moves")],
            wait={"mode": "offload"},
            backend=own(**argv, launch_argv=["sh", "-c", launch]),
        )
    )
    assert text(grouped) == [("done", 1, None)]
    assert "runs" in grouped.of("tj_wait")[0]["refused"]


@pytest.mark.parametrize(
    ("argv", "why"),
    [
        (["/nowhere/launch"], "/nowhere/launch"),
        (["sh", "-c", "echo no image; exit 4"], "exit code 4: no image"),
        (["true"], "printed 0 answers"),
        (["sleep", "600"], "ran for more than 300 ms"),
        (["sh", "-c", 'echo "{\\"pid\\": 2147483647}"'], "there is no process"),
    ],
)
def test_a_launch_that_fails_is_a_failed_session_with_its_reason_and_nothing_left(
    grouped: Runs, argv: list[str], why: str
) -> None:
    limits = {"timeout_ms": 300, "term_grace_ms": 50}
    played = grouped.play(plan([command("true")], backend=own(launch_argv=argv, stop_argv=["true"]), command=limits))
    lived = played.outcome.sessions[0]
    assert (lived.fate, lived.commands, played.left) == ("failed", 0, [])
    assert lived.why is not None
    assert why in lived.why
    assert grouped.left() == []


def test_a_sandbox_that_stop_argv_does_not_end_is_ended_by_its_cgroup_or_its_marker(grouped: Runs) -> None:
    limits = {"clean_timeout_ms": 300, "term_grace_ms": 50}
    grouped.play(plan([command("true")], backend=own(stop_argv=["false"]), command=limits))
    assert grouped.left() == []


def test_a_pause_that_fails_is_a_failed_session_with_its_reason(grouped: Runs) -> None:
    argv = {"pause_argv": ["sh", "-c", "echo cannot; exit 9"], "resume_argv": ["true"]}
    played = grouped.play(plan([wait(10)], wait={"mode": "freeze"}, backend=own(**argv)))
    assert played.outcome.sessions[0].why == "step 0: pause_argv: it ended with exit code 9: cannot"


def test_a_pause_for_which_there_are_no_commands_is_refused_before_anything_starts() -> None:
    with pytest.raises(UsageError, match="asks for freeze, but the backend has no pause_argv and no resume_argv"):
        refuse(plan([wait(1, pause="freeze")], backend=own()))
    with pytest.raises(UsageError, match="no restore_argv"):
        refuse(plan([wait(1)], wait={"mode": "offload"}, backend=own(offload_argv=["true"])))
    with pytest.raises(UsageError, match="pods, which is not there yet"):
        refuse(plan([wait(1)], backend={"kind": "pods"}))


def test_a_sandbox_in_a_cgroup_of_its_runtime_is_counted_and_emptied_by_that_group(
    grouped: Runs, need: Callable[[bool, str], None]
) -> None:
    made = run_group.make(f"test-{os.getpid()}-runtime")
    need(isinstance(made, RunGroup), f"cgroups may not be made: {made}")
    assert isinstance(made, RunGroup)
    with made, subprocess.Popen(["sleep", "600"]) as sleeper:
        for door in made.group.doors:
            door.write_text(str(sleeper.pid))
        folder = made.group.members.folder
        join = f"echo $$ > {folder}/cgroup.procs"
        backend = own(
            launch_argv=["echo", json.dumps({"cgroup": str(folder)})],
            exec_argv=["sh", "-c", f"{join}; {{script}}"],
            stop_argv=["sh", "-c", f"xargs kill -KILL < {folder}/cgroup.procs"],
        )
        hostile = command("setsid env -i sleep 600 & sleep 600", timeout_ms=500)
        limits = {"term_grace_ms": 50, "clean_timeout_ms": 10_000}
        reaping = threading.Thread(target=sleeper.wait)
        reaping.start()
        played = grouped.play(plan([command("true"), hostile | {"id": "d"}], backend=backend, command=limits))
        reaping.join()
        assert played.outcome.sessions[0].place["cgroup"] == str(folder)
        # What has left our own group for the sandbox's is not ours to end but by its parents; it is, and was found.
        assert grouped.of("tj_command")[0]["outcome"] == "done"
        assert grouped.of("tj_command")[1]["outcome"] in ("timed_out_cleaned", "timed_out_uncleaned")
        assert made.group.processes() == set()
        assert (0, "processes_gone") in grouped.audits("pass")
