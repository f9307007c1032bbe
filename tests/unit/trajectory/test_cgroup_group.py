"""Groups of a run on this machine's own cgroups: v1 where it has a freezer, and v2 where that is mounted."""

from __future__ import annotations

import ast
import asyncio
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from perfq.trajectory.cgroup import counters, places
from perfq.trajectory.cgroup import run_group as run_group_module
from perfq.trajectory.cgroup.command_groups import CommandGroups
from perfq.trajectory.cgroup.freezer import FreezeFailed
from perfq.trajectory.cgroup.group import MEMBERS_V1, Group
from perfq.trajectory.cgroup.places import UNIFIED, Hierarchy
from perfq.trajectory.cgroup.run_group import NoGroup, RunGroup, make
from perfq.trajectory.local.command import Bounds, Ended, LocalCommands
from perfq.trajectory.local.processes import Owner
from perfq.trajectory.local.start import Order
from perfq.trajectory.process import row

SECOND = 1_000_000_000
BOUNDS = Bounds(60 * SECOND, SECOND // 10, 30 * SECOND)
Need = Callable[[bool, str], None]
Make = Callable[[str], RunGroup]


def here(version: int) -> dict[str, Hierarchy]:
    own = places.own()
    wanted = [key for key in own if (key == UNIFIED) == (version == 2)]
    return {key: own[key] for key in wanted}


@pytest.fixture(params=[1, 2])
def run_group(request: pytest.FixtureRequest, need: Need, tmp_path: Path) -> Iterator[RunGroup]:
    version: int = request.param
    own = here(version)
    # A machine has one of them, or both: neither has to be there, but one has to.
    if not {MEMBERS_V1, UNIFIED} & own.keys():
        need(bool({MEMBERS_V1, UNIFIED} & places.own().keys()), "no cgroups are mounted")
        pytest.skip(f"cgroup v{version} is not mounted")
    made = make(f"test-{os.getpid()}-{tmp_path.name}"[:60], here=own)
    need(isinstance(made, RunGroup), f"cgroups may not be made: {made}")
    assert isinstance(made, RunGroup)
    with made:
        yield made
    assert [folder for folder in made.group.folders if folder.exists()] == []


@pytest.fixture
def session(run_group: RunGroup) -> Group:
    group = run_group.session(0)
    group.make()
    return group


def order(group: Group, *argv: str, marker: str = "A=b") -> Order:
    return Order(argv, Path("/"), {"PATH": os.environ["PATH"]}, marker, group)


def run(what: Order, bounds: Bounds = BOUNDS) -> Ended:
    async def go() -> Ended:
        with LocalCommands() as commands:
            return await commands.run(what, bounds)

    return asyncio.run(go())


def output(ended: Ended) -> str:
    assert ended.output is not None, ended
    return ended.output.kept.decode()


def test_a_command_is_born_in_its_group_and_all_of_its_time_is_counted_there(session: Group) -> None:
    one = session.only_members("command-0")
    ended = run(order(one, "sh", "-c", "cat /proc/self/cgroup; i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done"))
    assert f"/{one.members.folder.parent.parent.name}/session-0/command-0\n" in output(ended)
    counted = counters.read(session)
    assert counted.cpu_ns is not None
    assert counted.cpu_ns > 1_000_000
    if "memory" in session.hierarchies:
        assert counted.memory_peak is not None
        assert counted.memory_peak > 0


@pytest.mark.parametrize(
    "env",
    [{"B": "x y", "PWD": "/"}, {"B.x": "ü"}, {"IFS": "x"}, {"PWD": "/elsewhere"}, {"LC_ALL": "C", "A": "\udcff"}],
)
def test_the_command_gets_its_arguments_and_its_environment_unaltered(session: Group, env: dict[str, str]) -> None:
    script = r"""import os, sys; print(sys.argv[1:], open("/proc/self/environ", "rb").read(), os.read(0, 9))"""
    argv = [sys.executable, "-I", "-S", "-X", "utf8", "-c", script, "", "ä\n", "$A 'b'"]
    given = {"PATH": os.environ["PATH"], **env}
    ended = run(Order(argv, Path("/"), given, "A=b", session.only_members("command-0")))
    block = b"".join(os.fsencode(f"{name}={value}") + b"\0" for name, value in given.items())
    seen = output(ended).removesuffix(" b''\n")
    assert seen.startswith(str(argv[7:]))
    assert sorted(ast.literal_eval(seen.removeprefix(str(argv[7:])).strip()).split(b"\0")) == sorted(block.split(b"\0"))


@pytest.mark.parametrize("program", ["/nowhere/a-shell", "no-such-program"])
def test_a_missing_program_failed_to_start_and_is_named(session: Group, program: str) -> None:
    ended = run(order(session.only_members("command-0"), program))
    assert (ended.outcome, ended.started_ns) == ("failed_to_start", None)
    assert ended.why is not None
    assert program in ended.why


def test_a_group_that_has_vanished_is_a_command_that_failed_to_start(session: Group) -> None:
    session.remove()
    ended = run(order(session.only_members("command-0"), "true"))
    assert ended.outcome == "failed_to_start"
    assert session.vanished
    assert session.processes() == set()


def test_what_has_left_its_parents_its_group_and_its_environment_is_found_by_its_cgroup_and_ended(
    session: Group,
) -> None:
    script = (
        "import os, signal, time\n"
        "if os.fork() == 0:\n"
        "    os.setsid()\n"
        "    if os.fork(): os._exit(0)\n"
        "    code = 'import signal, time; signal.signal(15, signal.SIG_IGN); print(7, flush=True); time.sleep(600)'\n"
        f"    os.execve({sys.executable!r}, ['x', '-I', '-S', '-c', code], {{}})\n"
        "os.wait()\n"
    )
    one = session.only_members("command-0")

    async def go() -> tuple[object, ...]:
        with LocalCommands() as commands:
            ended = await commands.run(order(one, sys.executable, "-I", "-S", "-c", script), BOUNDS)
            assert ended.outcome == "done"
            assert len(one.processes()) == 1
            return await commands.end(Owner("A=b", None, session), BOUNDS)

    assert asyncio.run(go()) == ()
    assert session.processes() == set()


def test_a_frozen_group_takes_no_time_until_it_is_thawed(session: Group) -> None:
    async def go() -> None:
        with LocalCommands() as commands:
            one = session.only_members("command-0")
            running = asyncio.create_task(commands.run(order(one, "sh", "-c", "while :; do :; done"), BOUNDS))
            while not (counters.read(session).cpu_ns or 0):
                await asyncio.sleep(0.01)
            await session.freezer.freeze(10 * SECOND)
            frozen = counters.read(session).cpu_ns
            await asyncio.sleep(0.1)
            assert counters.read(session).cpu_ns == frozen
            await session.freezer.thaw(10 * SECOND)
            while counters.read(session).cpu_ns == frozen:
                await asyncio.sleep(0.01)
            running.cancel()
            with pytest.raises(asyncio.CancelledError):
                await running

    asyncio.run(go())


def test_a_kill_of_a_frozen_group_takes_effect_after_its_thaw(session: Group) -> None:
    async def go() -> None:
        with LocalCommands() as commands, subprocess.Popen(["sleep", "600"]) as sleeper:
            for door in session.doors:
                door.write_text(str(sleeper.pid))
            await session.freezer.freeze(10 * SECOND)
            sleeper.kill()
            if session.members.version == 1:
                await asyncio.sleep(0.05)
                assert sleeper.poll() is None
            session.freezer.let_go()
            assert await commands.end(Owner("A=b", None, session), BOUNDS) == ()

    asyncio.run(go())


def test_a_group_that_is_gone_cannot_be_frozen_and_says_so(session: Group) -> None:
    session.remove()
    with pytest.raises(FreezeFailed, match="cannot be frozen"):
        asyncio.run(session.freezer.freeze(SECOND))
    session.freezer.let_go()


def test_a_process_that_ended_and_is_not_reaped_is_not_in_its_group(session: Group) -> None:
    with subprocess.Popen(["sleep", "600"]) as sleeper:
        session.doors[0].parent.joinpath("cgroup.procs").write_text(str(sleeper.pid))
        session.members.folder.joinpath("cgroup.procs").write_text(str(sleeper.pid))
        assert [one.pid for one in session.processes()] == [sleeper.pid]
        sleeper.kill()
        os.waitid(os.P_PID, sleeper.pid, os.WEXITED | os.WNOWAIT)
        seen = row(sleeper.pid)
        assert seen is None or seen.gone
        assert session.processes() == set()


def test_a_machine_that_lets_us_make_none_is_said_with_the_reason(tmp_path: Path) -> None:
    assert make("x", here={}) == NoGroup("no cgroups are mounted here")
    nowhere = Hierarchy(2, tmp_path / "nowhere")
    made = make("x", here={UNIFIED: nowhere})
    assert made == NoGroup(f"cannot make the cgroup {tmp_path}/nowhere/perfq-x: No such file or directory")


def test_controllers_that_the_group_around_us_does_not_give_are_named(tmp_path: Path) -> None:
    made = make("x", here={UNIFIED: Hierarchy(2, tmp_path)})
    assert isinstance(made, RunGroup)
    assert made.missing == tuple(
        f"{tmp_path}/cgroup.subtree_control does not give {name} to groups in it" for name in ("memory", "pids", "io")
    )


def test_what_the_run_s_group_was_given_goes_on_to_the_sessions_and_what_cannot_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = tmp_path / "perfq-x"
    own.mkdir()
    (own / "cgroup.controllers").write_text("cpu memory pids\n")
    (own / "cgroup.subtree_control").touch()
    # The kernel shows what was written without its sign.
    as_the_kernel = lambda file: file.read_text().replace("+", "") if file.exists() else None  # noqa: E731
    monkeypatch.setattr(run_group_module, "text", as_the_kernel)
    missing: list[str] = []
    run_group_module._give(Hierarchy(2, tmp_path), {UNIFIED: Hierarchy(2, own)}, missing)
    assert (own / "cgroup.subtree_control").read_text() == "+memory +pids"
    assert missing == [f"{tmp_path}/cgroup.subtree_control does not give io to groups in it"]
    (own / "cgroup.subtree_control").unlink()
    missing.clear()
    run_group_module._give(Hierarchy(2, tmp_path), {UNIFIED: Hierarchy(2, own)}, missing)
    assert f"cannot give memory to the groups in {own}" in missing


def after_one_another(groups: CommandGroups, *scripts: str) -> list[Group]:
    """What each of these commands ran in."""
    ran = []
    for script in scripts:
        with groups.one() as one:
            assert run(order(one, "sh", "-c", script)).outcome == "done"
            ran.append(one)
    return ran


def test_a_session_s_commands_take_one_group_after_another_and_another_where_something_runs_on_in_it(
    session: Group,
) -> None:
    groups = CommandGroups(session)
    first, second, third, fourth = after_one_another(groups, "true", "sleep 600 >/dev/null 2>&1 &", "true", "true")
    assert first == second != third == fourth
    assert len(second.processes()) == 1
    with groups.one() as one, groups.one() as other:
        assert third == one != other

    async def end() -> tuple[object, ...]:
        with LocalCommands() as commands:
            return await commands.end(Owner("A=b", None, session), BOUNDS)

    assert asyncio.run(end()) == ()
    assert session.remove() == []
    assert session.vanished


def test_a_session_of_many_commands_gathers_no_groups(session: Group) -> None:
    after_one_another(CommandGroups(session), *["true"] * 5)
    assert [path.name for path in session.members.folder.iterdir() if path.is_dir()] == ["command-0"]


def test_a_session_is_frozen_at_once_however_short_ago_its_last_command_ended(session: Group) -> None:
    groups = CommandGroups(session)
    for _ in range(5):
        after_one_another(groups, "true")
        session.freezer.ask(True)
        # v1 has nothing to wait for where nothing runs; on v2 the kernel says so by an event, which may take a moment.
        assert session.freezer.frozen or session.members.version == 2
        session.freezer.let_go()
