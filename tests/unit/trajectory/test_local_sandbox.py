"""Sessions of this machine: a workspace each, nothing left of it, and a journal from which a later start sweeps."""

from __future__ import annotations

import asyncio
import errno
import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from perfq.errors import GuardRefused, UsageError
from perfq.profile.trajectory.profile import TrajectoryProfile
from perfq.profile.trajectory.trajectory import Trajectory
from perfq.trajectory.journal import StartedJournal, remains
from perfq.trajectory.local.clearing import sweep
from perfq.trajectory.local.command import Bounds, Ended, LocalCommands
from perfq.trajectory.local.processes import Owner, belonging
from perfq.trajectory.local.sandbox import LocalBackend, refuse_what_cannot_run
from perfq.trajectory.plan import Session, SessionPlan
from perfq.trajectory.process import row
from perfq.trajectory.session import StartFailed

SECOND = 1_000_000_000
BOUNDS = Bounds(60 * SECOND, SECOND // 10, 30 * SECOND)
IMPORTED = {"format": "mini-swe-agent-1.1"}


def session(*scripts: str, **changes: Any) -> Session:
    steps = [{"kind": "exec", "id": f"c{n}", "script": script} for n, script in enumerate(scripts)]
    document = {"schema": "perfq.trajectory/v1", "id": "s", "steps": steps, **changes}
    return Session(0, Trajectory.model_validate(document), Path("s.json"), 0)


def plan(one: Session, **changes: Any) -> SessionPlan:
    profile = {
        "schema": "perfq.trajectory-profile/v1",
        "name": "p",
        "trajectories": [{"path": "s.json"}],
        "arrivals": {"mode": "explicit", "offsets_ms": [0]},
        **changes,
    }
    return SessionPlan(TrajectoryProfile.model_validate(profile), [one])


@pytest.fixture
def run_id(tmp_path: Path) -> str:
    return f"{tmp_path.name}-{os.getpid()}"


@pytest.fixture
def journal(tmp_path: Path, run_id: str) -> Iterator[StartedJournal]:
    with StartedJournal(tmp_path / "started.ndjson", run_id) as opened:
        yield opened


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path / "workspaces"


def lived(root: Path, run_id: str, journal: StartedJournal, one: Session) -> tuple[list[Ended], list[str]]:
    async def go() -> tuple[list[Ended], list[str]]:
        with LocalCommands() as commands:
            sandbox = await LocalBackend(run_id, root, commands, BOUNDS, journal).open(one)
            ended = [await sandbox.run(n, step) for n, step in enumerate(one.trajectory.commands)]
            return ended, (await sandbox.close()).left

    return asyncio.run(go())


def kept(ended: Ended) -> str:
    assert ended.output is not None
    return ended.output.kept.decode()


def test_commands_of_a_session_share_a_directory_which_is_the_recording_s_within_the_workspace(
    root: Path, run_id: str, journal: StartedJournal
) -> None:
    one = session("echo 1 > a", "cat a; pwd", environment={"workdir": "/testbed/x", "env": {"A": "b"}})
    ended, left = lived(root, run_id, journal, one)
    assert kept(ended[1]) == f"1\n{root}/session-0/testbed/x\n"
    assert left == []


def test_the_environment_is_the_recording_s_and_not_the_harness_s_own(
    root: Path, run_id: str, journal: StartedJournal, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("A_SECRET", "x")
    ended, _ = lived(root, run_id, journal, session("env", environment={"env": {"A": "b"}}))
    assert "A=b\n" in kept(ended[0])
    assert "A_SECRET" not in kept(ended[0])


def test_what_a_command_leaves_in_the_background_lives_on_to_the_session_s_end_and_no_longer(
    root: Path, run_id: str, journal: StartedJournal
) -> None:
    ended, left = lived(
        root, run_id, journal, session("setsid sleep 600 & echo $! > p", "kill -0 $(cat p) && echo lives")
    )
    assert kept(ended[1]) == "lives\n"
    assert left == []
    assert not belonging(Owner(f"PERFQ_SESSION={run_id}/0"))
    assert not (root / "session-0").exists()


def test_a_directory_that_leads_out_of_the_workspace_is_refused(
    root: Path, run_id: str, journal: StartedJournal
) -> None:
    with pytest.raises(StartFailed, match="leads out"):
        lived(root, run_id, journal, session("true", environment={"workdir": "/../../etc"}))


def test_imported_scripts_run_only_with_leave() -> None:
    imported = plan(session("true", source=IMPORTED))
    with pytest.raises(GuardRefused, match="--allow-local-exec") as caught:
        refuse_what_cannot_run(imported, allowed=False)
    assert caught.value.exit_code == 5
    refuse_what_cannot_run(imported, allowed=True)
    refuse_what_cannot_run(plan(session("true")), allowed=False)


def test_what_the_backend_does_not_have_is_said_before_anything_starts() -> None:
    with pytest.raises(UsageError, match="persistent"):
        refuse_what_cannot_run(plan(session("true", environment={"session": "persistent"})), allowed=True)
    waits = session("true", steps=[{"kind": "wait", "wait_ms": 1}])
    with pytest.raises(UsageError, match="no cgroup to freeze: they are read-only"):
        refuse_what_cannot_run(plan(waits, wait={"mode": "freeze"}), True, "they are read-only")
    refuse_what_cannot_run(plan(waits, wait={"mode": "freeze"}), True)
    refuse_what_cannot_run(plan(waits), True, "they are read-only")
    with pytest.raises(UsageError, match="no commands"):
        refuse_what_cannot_run(plan(waits, wait={"mode": "offload"}), True)


def test_a_journal_whose_run_ended_well_leaves_nothing(root: Path, run_id: str, tmp_path: Path) -> None:
    with StartedJournal(tmp_path / "started.ndjson", run_id) as journal:
        lived(root, run_id, journal, session("true"))
    assert remains(tmp_path / "started.ndjson").sandboxes == []


def test_a_run_that_goes_on_is_not_swept(root: Path, journal: StartedJournal, tmp_path: Path) -> None:
    journal.sandbox(0, "PERFQ_SESSION=x/0", root)
    found = remains(tmp_path / "started.ndjson")
    assert found.alive
    assert [one.n for one in found.sandboxes] == [0]


def test_what_a_killed_run_left_is_ended_and_removed_at_the_next_start(root: Path, run_id: str, tmp_path: Path) -> None:
    workspace, marker = root / "session-3", f"PERFQ_SESSION={run_id}/3"
    workspace.mkdir(parents=True)
    env = {"PATH": os.environ["PATH"], "PERFQ_SESSION": f"{run_id}/3"}
    with (
        subprocess.Popen(["sleep", "600"], env=env) as marked,
        subprocess.Popen(["sleep", "600"], env={"PATH": os.environ["PATH"]}) as journaled,
    ):
        seen = row(journaled.pid)
        assert seen is not None
        lines = [
            {
                "k": "run",
                "run": "r",
                "boot": Path("/proc/sys/kernel/random/boot_id").read_text().strip(),
                "owner": [1, 0],
            },
            {"k": "sandbox", "n": 3, "marker": marker, "workspace": str(workspace)},
            {"k": "process", "n": 3, "pid": journaled.pid, "start_ticks": seen.process.start_ticks},
        ]
        text = "".join(json.dumps(line) + "\n" for line in lines) + '{"k":"go'
        (tmp_path / "old.ndjson").write_text(text)
        found = remains(tmp_path / "old.ndjson")
        assert not found.alive

        async def go() -> list[str]:
            with LocalCommands() as commands:
                return await sweep(commands, found.sandboxes, BOUNDS)

        assert asyncio.run(go()) == []
        assert marked.wait() < 0
        assert journaled.wait() < 0
    assert not workspace.exists()


def test_after_a_reboot_a_journaled_process_is_another_one_and_is_not_touched(tmp_path: Path) -> None:
    lines = [
        {"k": "run", "run": "r", "boot": "an earlier one", "owner": [os.getpid(), 0]},
        {"k": "sandbox", "n": 0, "marker": "A=b", "workspace": "/nowhere"},
        {"k": "process", "n": 0, "pid": os.getpid(), "start_ticks": 5},
    ]
    (tmp_path / "old.ndjson").write_text("".join(json.dumps(line) + "\n" for line in lines))
    found = remains(tmp_path / "old.ndjson")
    assert not found.alive
    assert found.sandboxes[0].processes == set()


def test_a_workspace_that_cannot_be_made_leaves_nothing_and_nothing_to_sweep(
    root: Path, run_id: str, journal: StartedJournal, tmp_path: Path
) -> None:
    root.mkdir()
    name = "x" * 300
    with pytest.raises(StartFailed, match="too long"):
        lived(root, run_id, journal, session("true", environment={"workdir": f"/a/b/{name}"}))
    assert list(root.iterdir()) == []
    assert remains(tmp_path / "started.ndjson").sandboxes == []


def test_a_journal_on_a_full_disk_says_so_and_a_torn_line_of_it_hides_no_other(
    journal: StartedJournal, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write, room = os.write, [7]

    def nearly_full(fd: int, data: bytes) -> int:
        if not room[0]:
            raise OSError(errno.ENOSPC, "No space left on device")
        written = write(fd, data[: room[0]])
        room[0] -= written
        return written

    with monkeypatch.context() as full:
        full.setattr(os, "write", nearly_full)
        with pytest.raises(OSError, match="No space"):
            journal.sandbox(0, "A=0", tmp_path / "0")
    journal.sandbox(1, "A=1", tmp_path / "1")
    assert [one.n for one in remains(tmp_path / "started.ndjson").sandboxes] == [1]
