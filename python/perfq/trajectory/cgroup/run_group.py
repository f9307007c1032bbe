"""The group of a run, below the one that perfq itself runs in; nothing else of the machine's groups is written to.

On v2 the controllers of a child are given by its parent. What the group that perfq runs in does not give to its
children (it may not while processes run in it) the sessions do not have: it is said, and their counters are null.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from perfq.trajectory.cgroup import counters, places
from perfq.trajectory.cgroup.group import MEMBERS_V1, Group
from perfq.trajectory.cgroup.places import UNIFIED, Hierarchy
from perfq.trajectory.cgroup.texts import text

#: What is counted, by the controllers' names in v1 and in v2. v2 counts CPU time without one.
_COUNTED: Final = {"memory": "memory", "cpuacct": "cpu", "pids": "pids", "blkio": "io"}
#: How every folder of ours begins.
PREFIX: Final = "perfq-"


@dataclass(frozen=True)
class RunGroup:
    """A context manager; at its end the folders are removed."""

    group: Group
    #: What the machine does not let us have, a sentence each.
    missing: tuple[str, ...] = ()

    def __enter__(self) -> RunGroup:
        return self

    def __exit__(self, *_: object) -> None:
        self.group.remove()

    def session(self, n: int) -> Group:
        """One session's, not made yet."""
        return self.group.below(f"session-{n}")

    def usage_bytes(self, usage: str) -> int | None:
        """Memory of all sessions: `current`, or `current_minus_inactive_file`. None: it is not counted here."""
        return counters.usage_bytes(self.group, usage)


@dataclass(frozen=True)
class NoGroup:
    """Why a run has none."""

    why: str


def make(
    run_id: str, announce: Callable[[Group], object] = lambda _: None, here: Mapping[str, Hierarchy] | None = None
) -> RunGroup | NoGroup:
    """Makes the folders of a run; `announce` is told of them before. `here` is where perfq stands; None: see /proc."""
    here = places.own() if here is None else here
    name = f"{PREFIX}{run_id}"
    v1 = [key for key in (*_COUNTED, MEMBERS_V1) if key in here and here[key].version == 1]
    wanted = v1 if MEMBERS_V1 in v1 or UNIFIED not in here else [*v1, UNIFIED]
    announce(Group({key: here[key].below(name) for key in wanted}))
    missing: list[str] = []
    made: dict[str, Hierarchy] = {}
    for key in wanted:
        _make(key, here[key].below(name), made, missing)
    if MEMBERS_V1 not in made and UNIFIED not in made:
        Group(made).remove()
        return NoGroup("; ".join(missing) or "no cgroups are mounted here")
    if UNIFIED in made:
        _give(here[UNIFIED], made, missing)
    else:
        missing += [f"there is no cgroup controller {key} here" for key in _COUNTED if key not in here]
    return RunGroup(Group(made), tuple(missing))


def _make(key: str, wanted: Hierarchy, made: dict[str, Hierarchy], missing: list[str]) -> None:
    if wanted.folder not in [one.folder for one in made.values()]:  # v1 may serve several controllers by one
        try:
            wanted.folder.mkdir()
        except OSError as error:
            missing.append(f"cannot make the cgroup {wanted.folder}: {error.strerror}")
            return
    made[key] = wanted


def _give(here: Hierarchy, made: dict[str, Hierarchy], missing: list[str]) -> None:
    """What the run's own group was given goes on to the sessions; its own files are all that is written."""
    folder = made[UNIFIED].folder
    given = (text(folder / "cgroup.controllers") or "").split()
    wanted = [v2 for name, v2 in _COUNTED.items() if name not in made and v2 != "cpu"]
    with contextlib.suppress(OSError):
        (folder / "cgroup.subtree_control").open("r+").write(" ".join(f"+{v2}" for v2 in wanted if v2 in given))
    on = (text(folder / "cgroup.subtree_control") or "").split()
    for v2 in wanted:
        if v2 not in given:
            missing.append(f"{here.folder}/cgroup.subtree_control does not give {v2} to groups in it")
        elif v2 not in on:
            missing.append(f"cannot give {v2} to the groups in {folder}")
