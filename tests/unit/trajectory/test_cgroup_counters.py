"""What the kernel counted for a group, from files as v1 and v2 write them. What is not there is null, never 0."""

from __future__ import annotations

from pathlib import Path

import pytest

from perfq.trajectory.cgroup.counters import Counters, read
from perfq.trajectory.cgroup.group import Group
from perfq.trajectory.cgroup.places import UNIFIED, Hierarchy
from perfq.trajectory.cgroup.run_group import RunGroup


@pytest.fixture
def meminfo(tmp_path: Path) -> Path:
    path = tmp_path / "meminfo"
    path.write_text("MemTotal: 8000 kB\nSwapTotal:     1024 kB\n")
    return path


def group(folder: Path, version: int, *keys: str, **files: str) -> Group:
    folder.mkdir(exist_ok=True)
    for name, content in files.items():
        (folder / name.replace("_in_", "-in-").replace("__", ".").replace("-in-", "_in_")).write_text(content)
    return Group({key: Hierarchy(1 if version == 1 else 2, folder) for key in keys})


def test_those_of_v2(tmp_path: Path, meminfo: Path) -> None:
    one = group(
        tmp_path / "g",
        2,
        UNIFIED,
        memory__peak="4096\n",
        memory__swap__peak="512\n",
        memory__events="low 0\nhigh 0\nmax 7\noom 2\noom_kill 1\noom_group_kill 0\n",
        cpu__stat="usage_usec 1500\nuser_usec 1000\nsystem_usec 500\n",
    )
    events = {"low": 0, "high": 0, "max": 7, "oom": 2, "oom_kill": 1, "oom_group_kill": 0}
    assert read(one, meminfo) == Counters(4096, 1_500_000, 1, 512, events)


def test_those_of_an_older_v2_kernel_without_peaks_are_null(tmp_path: Path, meminfo: Path) -> None:
    one = group(tmp_path / "g", 2, UNIFIED, memory__swap__current="0\n", cpu__stat="usage_usec 1\n")
    assert read(one, meminfo) == Counters(None, 1000, None, None, {})


def test_those_of_v1_with_kills_of_the_groups_in_it(tmp_path: Path, meminfo: Path) -> None:
    one = group(
        tmp_path / "g",
        1,
        "memory",
        "cpuacct",
        **{
            "memory.max_usage_in_bytes": "5000\n",
            "memory.memsw.max_usage_in_bytes": "5300\n",
            "memory.stat": "swap 0\ntotal_swap 100\n",
            "memory.failcnt": "3\n",
            "memory.oom_control": "oom_kill_disable 0\nunder_oom 0\noom_kill 1\n",
            "cpuacct.usage": "123\n",
        },
    )
    (tmp_path / "g" / "session-0").mkdir()
    (tmp_path / "g" / "session-0" / "memory.oom_control").write_text("oom_kill 2\n")
    assert read(one, meminfo) == Counters(5000, 123, 3, 300, {"max": 3})


def test_without_swap_on_the_machine_nothing_was_swapped(tmp_path: Path, meminfo: Path) -> None:
    meminfo.write_text("SwapTotal: 0 kB\n")
    assert read(group(tmp_path / "g", 2, UNIFIED), meminfo).swap == 0


@pytest.mark.parametrize(("usage", "expected"), [("current", 900), ("current_minus_inactive_file", 650)])
def test_the_memory_in_use_is_what_the_profile_says_it_is(tmp_path: Path, usage: str, expected: int) -> None:
    v2 = group(tmp_path / "a", 2, UNIFIED, memory__current="900\n", memory__stat="anon 1\ninactive_file 250\n")
    stat = "inactive_file 1\ntotal_inactive_file 250\n"
    v1 = group(tmp_path / "b", 1, "memory", **{"memory.usage_in_bytes": "900\n", "memory.stat": stat})
    assert RunGroup(v2).usage_bytes(usage) == RunGroup(v1).usage_bytes(usage) == expected


def test_memory_that_is_not_counted_is_not_0(tmp_path: Path) -> None:
    assert RunGroup(group(tmp_path / "a", 2, UNIFIED)).usage_bytes("current") is None
    assert RunGroup(group(tmp_path / "b", 1, "freezer")).usage_bytes("current") is None
