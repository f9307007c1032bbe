"""Which processes run in a sandbox of somebody else's runtime, and whether its memory may be moved out.

By its cgroup, by its pid namespace, and by descent from its process: each finds what the others may miss.
"""

from __future__ import annotations

from perfq.trajectory.external.answer import Found, namespace_of
from perfq.trajectory.process import Process, Row, row, rows


def inside(found: Found) -> set[Process]:
    """All that run in it now."""
    members = set() if found.group is None else found.group.processes()
    children: dict[int, list[Process]] = {}
    for one in rows():
        children.setdefault(one.parent, []).append(one.process)
        if found.namespace is not None and namespace_of(one.process.pid) == found.namespace:
            members.add(one.process)
    seen = None if found.process is None else row(found.process.pid)
    if seen is not None and seen.process == found.process and not seen.gone:
        members.add(seen.process)
    queue = list(members)
    while queue:
        for below in children.get(queue.pop().pid, []):
            if below not in members:
                members.add(below)
                queue.append(below)
    return members


def ours_to_end(found: Found, process: Process, born_here: set[Process]) -> bool:
    """Whether perfq started it, or it lives in the sandbox's own pid namespace.

    Others are named and left: an answer of launch_argv that is wrong must not end what is not of the sandbox.
    """
    return process in born_here or (found.namespace is not None and namespace_of(process.pid) == found.namespace)


def unsafe_to_offload(found: Found) -> str | None:
    """Why the memory of what runs in it may not be moved out now; None: all of it sleeps.

    What runs, or waits for a disk, would fault its memory back in while it is moved; what is traced is somebody's
    debugger's.
    """
    states = {"R": "runs", "D": "waits for the kernel", "t": "is traced", "T": "is stopped"}
    busy: list[Row] = [
        seen for one in sorted(inside(found)) if (seen := row(one.pid)) is not None and seen.state in states
    ]
    return f"process {busy[0].process.pid} {states[busy[0].state]}" if busy else None
