"""The command line as a whole: what it imports, how it ends, what it suggests."""

from __future__ import annotations

import importlib
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from perfq import cli
from perfq.errors import BudgetMissed, GuardRefused, InvalidRun, PerfqError, UsageError


def perfq(*args: str, **given: str) -> subprocess.CompletedProcess[str]:
    """The real command; keyword arguments are environment variables."""
    environment = {key: value for key, value in os.environ.items() if not key.startswith("PERFQ")}
    return subprocess.run(
        [sys.executable, "-m", "perfq", *args],
        env={**environment, **given},
        capture_output=True,
        text=True,
        check=False,
        stdin=subprocess.DEVNULL,
    )


def commands() -> Iterator[tuple[str, click.Command]]:
    """Every command and group that can be imported, by its words."""
    context = click.Context(cli.cli)
    for name, (target, _) in cli.COMMANDS.items():
        if importlib.util.find_spec(target.split(":")[0]) is None:
            continue
        command = cli.cli.get_command(context, name)
        assert command is not None
        yield name, command
        if isinstance(command, click.Group):
            for below in command.list_commands(context):
                part = command.get_command(context, below)
                assert part is not None
                yield f"{name} {below}", part


@pytest.mark.parametrize("argument", ["--help", "--version"])
def test_help_and_version_import_click_alone(argument: str) -> None:
    program = (
        "import sys\n"
        f"sys.argv = ['perfq', {argument!r}]\n"
        "from perfq.cli import main\n"
        "try: main()\n"
        "except SystemExit as end: assert end.code == 0\n"
        "print(*sorted(sys.modules), file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    modules = done.stderr.split()
    ours = {name for name in modules if name.split(".")[0] == "perfq"}
    assert ours == {"perfq", "perfq.cli", "perfq.cli.nearest", "perfq.errors"}
    foreign = {name.split(".")[0] for name in modules} - sys.stdlib_module_names - {"perfq", "click", "__main__"}
    # What a .pth file of the environment loads at each start is none of ours.
    bare = subprocess.run(
        [sys.executable, "-c", "import sys; print(*sys.modules)"], capture_output=True, text=True, check=True
    )
    assert foreign - {name.split(".")[0] for name in bare.stdout.split()} == set()


def test_version_is_one_line_and_as_json_says_what_was_built() -> None:
    assert re.fullmatch(r"perfq \d+\.\d+\.\d+\n", perfq("--version").stdout)
    build = json.loads(perfq("--version", "--json").stdout)
    assert set(build) == {"version", "commit", "build", "rust", "target", "python"}
    assert build["rust"].startswith("rustc ")
    assert build["python"].startswith("CPython 3.")


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["plna"], "Did you mean 'plan'?"),
        (["profile", "shwo"], "Did you mean 'show'?"),
        (["plan", "smoke-1kk"], "(did you mean smoke-1k?)"),
        (["plan", "smoke-1k", "--jsn"], "Did you mean one of: '--json'"),
        (["schema", "profiles"], "Did you mean 'profile'?"),
        (["profile", "show", "smoke-1k", "--set", "sede=1"], "(did you mean seed?)"),
    ],
)
def test_a_typo_is_a_usage_error_that_suggests_the_nearest(arguments: list[str], expected: str) -> None:
    done = perfq(*arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert expected in done.stderr


def test_no_command_prints_the_help_as_a_usage_error() -> None:
    done = perfq()
    assert (done.returncode, done.stdout) == (2, "")
    assert "Usage: perfq" in done.stderr
    assert perfq("--json").returncode == 2


def test_every_command_has_an_example_and_says_what_each_flag_does() -> None:
    checked = 0
    for words, command in commands():
        help_text = command.get_help(click.Context(command, info_name=f"perfq {words}"))
        assert re.search(r"Examples?:", help_text), words
        assert f"perfq {words}" in help_text.split("Example")[1], words
        for option in command.params:
            if isinstance(option, click.Option) and not option.hidden:
                assert option.help, f"{words} {option.opts}"
        checked += 1
    assert checked >= 6


def test_shared_flags_mean_the_same_everywhere() -> None:
    meanings: dict[str, set[str | None]] = {}
    for words, command in commands():
        for option in command.params:
            if isinstance(option, click.Option):
                # What an import writes is no run directory.
                for flag in set(option.opts) - ({"--out"} if words.endswith(" import") else set()):
                    meanings.setdefault(flag, set()).add(option.help)
    # --out names what is written: a run's directory, or the trace that load convert and load import make.
    for flag in ("--set", "--seed", "--duration", "--budget", "--preset", "--repeat", "--context", "--kubeconfig"):
        assert len(meanings[flag]) == 1, flag


def test_every_flag_can_be_given_as_a_variable() -> None:
    done = perfq("plan", "smoke-1k", PERFQ_PLAN_JSON="1", PERFQ_PLAN_SEED="9")
    assert json.loads(done.stdout)["profile"]["seed"] == 9
    assert perfq("profile", "list", PERFQ_PROFILE_LIST_JSON="1").stdout.startswith("[")
    assert perfq("plan", "smoke-1k", PERFQ_PLAN_SET='id="x"').stdout.startswith("id            x\n")
    for words, command in commands():
        for option in command.params:
            if isinstance(option, click.Option):
                flag = f"{words} {max(option.opts, key=len).lstrip('-')}"
                assert option.envvar == "PERFQ_" + flag.upper().replace("-", "_").replace(" ", "_")


def test_variables_of_that_name_do_not_reach_the_top_of_the_command_line() -> None:
    assert perfq("profile", "list", PERFQ_JSON="1", PERFQ_VERSION="1").stdout.startswith("ID ")


def test_the_shell_completes_commands_and_profiles() -> None:
    def complete(words: str) -> list[str]:
        return perfq(
            _PERFQ_COMPLETE="bash_complete", COMP_WORDS=words, COMP_CWORD=str(len(words.split()) - 1)
        ).stdout.split()

    assert complete("perfq pl") == ["plain,plan"]
    assert complete("perfq plan smoke") == ["plain,smoke-1k", "file,smoke"]
    assert complete("perfq replay --preset cl") == ["plain,client-1k"]
    assert complete("perfq client check vie") == ["plain,viewer", "file,vie"]
    assert complete("perfq schema bud") == ["plain,budgets"]


@pytest.mark.parametrize("error", [UsageError, BudgetMissed, InvalidRun, GuardRefused])
def test_an_error_of_ours_is_one_sentence_and_its_code(
    error: type[PerfqError], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(**_: object) -> None:
        raise error("it went wrong", details=["p:1: seed: got x, expected y"])

    monkeypatch.setattr(cli.cli, "main", fail)
    with pytest.raises(SystemExit) as end:
        cli.main()
    assert end.value.code == error.exit_code
    assert capsys.readouterr().err == "perfq: it went wrong\np:1: seed: got x, expected y\n"


def test_a_bug_of_ours_says_so_and_asks_for_a_report() -> None:
    program = (
        "import perfq.cli, perfq.profile.builtin as b\n"
        "b.BUILTIN_IDS = None\n"
        "import sys; sys.argv = ['perfq', 'plan', 'smoke-1k']\n"
        "perfq.cli.main()"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr.startswith("Traceback")
    assert "this is a bug of perfq, not yours. Please report it at https://" in done.stderr.splitlines()[-1]


def test_a_reader_that_leaves_early_ends_the_command_as_it_ends_any_other() -> None:
    for arguments in (["plan", "burst-50k", "--emit", "objects"], ["profile", "list"]):
        read, write = os.pipe()
        os.close(read)
        with subprocess.Popen(
            [sys.executable, "-m", "perfq", *arguments], stdout=write, stderr=subprocess.PIPE
        ) as process:
            os.close(write)
            assert process.communicate()[1] == b""
        assert process.returncode == -13, arguments  # SIGPIPE; 141 in a shell


def test_a_full_disk_is_one_line() -> None:
    for arguments in (["plan", "smoke-1k", "--emit", "events"], ["profile", "list"]):
        with Path("/dev/full").open("w") as full:
            done = subprocess.run(
                [sys.executable, "-m", "perfq", *arguments], stdout=full, stderr=subprocess.PIPE, text=True, check=False
            )
        assert done.returncode == 2
        assert done.stderr == "perfq: cannot write: No space left on device; make room and try again\n"


def test_a_closed_standard_output_is_refused() -> None:
    done = subprocess.run(
        ["/bin/sh", "-c", '"$0" -m perfq plan smoke-1k >&-', sys.executable],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert "standard output is closed" in done.stderr


@pytest.mark.parametrize(
    ("body", "code"),
    [("sys.exit(3)", 3), ("atexit.register(print, 'at the end'); print('said', end=' '); sys.exit(0)", 0)],
)
def test_a_program_that_ends_has_said_all_and_run_what_was_left_for_the_end(body: str, code: int) -> None:
    done = ended(body)
    assert (done.returncode, done.stderr) == (code, "")
    assert done.stdout == ("said at the end\n" if code == 0 else "")


def test_a_thread_that_is_to_be_waited_for_is() -> None:
    slow = "threading.Thread(target=lambda: (time.sleep(0.1), print('done'))).start(); sys.exit(4)"
    assert (ended(slow).returncode, ended(slow).stdout) == (4, "done\n")


def ended(body: str) -> subprocess.CompletedProcess[str]:
    """A program whose command line does this; stdout is a pipe, so that what it says waits in a buffer."""
    text = (
        "import atexit, sys, threading, time, perfq.cli\n"
        f"def main(**_): {body}\n"
        "perfq.cli.cli.main = main\n"
        "perfq.cli.program()"
    )
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
    return subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=False, env=environment)
