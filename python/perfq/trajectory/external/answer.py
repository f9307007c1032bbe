"""What launch_argv answers: one line, {"pid": …} or {"cgroup": …}."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path

from perfq.trajectory.cgroup import places
from perfq.trajectory.cgroup.group import Group
from perfq.trajectory.process import Process, row

EXPECTED = 'one JSON line, {"pid": …} or {"cgroup": …}'


@dataclass(frozen=True)
class Answer:
    """Where the sandbox is. Exactly one of both is known at first hand."""

    pid: int | None = None
    cgroup: str | None = None


def parse(output: str) -> Answer:
    """The one line of that form; others are the runtime's own talk. ValueError where there is none, or several."""
    found = [answer for line in output.splitlines() if (answer := _answer(line)) is not None]
    if len(found) != 1:
        raise ValueError(f"launch_argv printed {len(found)} answers, expected {EXPECTED}")
    return found[0]


def _answer(line: str) -> Answer | None:
    try:
        value = json.loads(line)
    except ValueError:
        return None
    if not isinstance(value, dict) or not {"pid", "cgroup"} & value.keys():
        return None
    pid, cgroup = value.get("pid"), value.get("cgroup")
    if type(pid) is int and 0 < pid < 2**31 and cgroup is None:
        return Answer(pid=pid)
    if isinstance(cgroup, str) and cgroup.startswith("/") and pid is None:
        return Answer(cgroup=cgroup)
    raise ValueError(f"launch_argv answered {line.strip()}, expected {EXPECTED}")


@dataclass(frozen=True)
class Found:
    """The sandbox on this machine."""

    answer: Answer
    #: The process of the answer; None: it named a cgroup.
    process: Process | None
    #: Its cgroup; None: it is one that holds perfq too, and says nothing of it.
    group: Group | None
    #: Its pid namespace, as /proc names it; None: it is perfq's, or not to be seen.
    namespace: str | None
    #: Whether all that runs in it can be seen from here.
    provable: bool = True
    #: What ran in it when it was ready: its own, and no command's.
    services: frozenset[Process] = frozenset()


def find(answer: Answer) -> Found:
    """ValueError where it is not there, or is not one that could be a sandbox."""
    if answer.cgroup is not None:
        group = Group(places.at(answer.cgroup))
        if not group.hierarchies:
            raise ValueError(f"there is no cgroup {answer.cgroup}")
        if any(own.folder.is_relative_to(group.hierarchies[key].folder) for key, own in _ours(group).items()):
            raise ValueError(f"the cgroup {answer.cgroup} holds perfq itself")
        return Found(answer, None, group, None, group.has_members)
    assert answer.pid is not None
    seen = row(answer.pid)
    if seen is None or seen.gone:
        raise ValueError(f"there is no process {answer.pid}")
    above: int | None = os.getpid()
    while above:
        if above == answer.pid:
            raise ValueError(f"process {answer.pid} is perfq itself, or what it was started by")
        parent = row(above)
        above = None if parent is None else parent.parent
    here = places.own()
    group = Group(
        {
            key: one
            for key, one in places.of(answer.pid).items()
            if key not in here or not here[key].folder.is_relative_to(one.folder)
        }
    )
    namespace, inner = namespace_of(), namespace_of(answer.pid)
    return Found(
        answer,
        seen.process,
        group if group.has_members else None,
        None if inner == namespace else inner,
        group.has_members or inner is not None,
    )


def _ours(group: Group) -> dict[str, places.Hierarchy]:
    return {key: one for key, one in places.own().items() if key in group.hierarchies}


def namespace_of(pid: int | str = "self") -> str | None:
    """The pid namespace of a process; None: it is gone, or may not be looked at."""
    try:
        return str(Path(f"/proc/{pid}/ns/pid").readlink())
    except OSError:
        return None
