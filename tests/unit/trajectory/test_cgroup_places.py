"""Where a process stands in the machine's cgroups, by texts of several machines."""

from __future__ import annotations

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from perfq.trajectory.cgroup.places import UNIFIED, Hierarchy, places

HYBRID = """\
32 31 0:29 / /sys/fs/cgroup/cpu,cpuacct rw,relatime shared:9 - cgroup cgroup rw,cpu,cpuacct
35 31 0:32 / /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,memory
41 31 0:38 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw,nsdelegate
"""
V2 = "30 23 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate\n"


def test_each_controller_of_a_hybrid_machine_is_where_it_is_mounted() -> None:
    found = places("4:memory:/jobs/a\n2:cpu,cpuacct:/jobs\n1:name=systemd:/\n0::/user.slice\n", HYBRID)
    shared = Hierarchy(1, Path("/sys/fs/cgroup/cpu,cpuacct/jobs"))
    assert found == {
        "memory": Hierarchy(1, Path("/sys/fs/cgroup/memory/jobs/a")),
        "cpu": shared,
        "cpuacct": shared,
        UNIFIED: Hierarchy(2, Path("/sys/fs/cgroup/unified/user.slice")),
    }


def test_one_hierarchy_of_v2_has_all() -> None:
    assert places("0::/a.slice/b.scope\n", V2) == {UNIFIED: Hierarchy(2, Path("/sys/fs/cgroup/a.slice/b.scope"))}


def test_of_a_container_only_what_is_mounted_is_seen() -> None:
    inside = "9 8 0:1 /docker/ab /sys/fs/cgroup ro - cgroup2 cgroup2 ro\n"
    top = {UNIFIED: Hierarchy(2, Path("/sys/fs/cgroup"))}
    assert places("0::/docker/ab/x\n", inside) == {UNIFIED: Hierarchy(2, Path("/sys/fs/cgroup/x"))}
    assert places("0::/docker/abc\n", inside) == top
    assert places("0::/../other\n", V2) == top


def test_a_mount_point_with_a_space_is_read() -> None:
    odd = "30 23 0:26 / /mnt/a\\040b rw - cgroup2 cgroup2 rw\n"
    assert places("0::/\n", odd) == {UNIFIED: Hierarchy(2, Path("/mnt/a b"))}


@given(st.text(), st.text())
def test_any_texts_are_read(cgroup: str, mountinfo: str) -> None:
    assert isinstance(places(cgroup, mountinfo), dict)
