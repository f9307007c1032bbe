"""What is looked at when a session, and a run, has ended: pass, fail or unknown, each with its evidence.

What could not be looked at is unknown, and a run with an unknown audit is not a pass.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from perfq.trajectory.cgroup.counters import Counters
from perfq.trajectory.cgroup.group import Group
from perfq.trajectory.process import Process

Status = Literal["pass", "fail", "unknown"]


@dataclass(frozen=True)
class Audit:
    """One of them."""

    name: str
    status: Status
    evidence: str

    def record(self, n: int | None, t: int) -> dict[str, object]:
        """Its line in the record; `n` is None for the run as a whole."""
        return {"k": "tj_audit", "t": t, "n": n, "name": self.name, "status": self.status, "evidence": self.evidence}


def steps_accounted(planned: int, outcomes: Sequence[str], cut: bool, why: str | None) -> Audit:
    """Each step has an end on record, or it is known why it has none. `outcomes` are those that have one."""
    unknown = sum(outcome == "unknown" for outcome in outcomes)
    never = planned - len(outcomes) - cut
    parts = [f"{len(outcomes)} of {planned} ended", f"{unknown} of them unknown" * bool(unknown)]
    parts += ["1 was cut short" * cut, f"{never} never ran" * bool(never)]
    evidence = ", ".join(part for part in parts if part) + (f": {why}" if why else "")
    if unknown:
        return Audit("steps_accounted", "unknown", evidence)
    return Audit("steps_accounted", "pass" if why or not (never or cut) else "fail", evidence)


def processes_gone(left: Sequence[Process], marker: str, group: Group | None, adopted: bool = False) -> Audit:
    """`left` is what the last look found, by cgroup and by marker. `adopted`: the run's own audit sees the rest."""
    if left:
        pids = ", ".join(str(one.pid) for one in left)
        return Audit("processes_gone", "fail", f"processes {pids} still run")
    if group is None and adopted:
        evidence = f"none has {marker} in its environment; one that cleared it is the run's to find"
        return Audit("processes_gone", "pass", evidence)
    if group is None:
        evidence = (
            f"no process has {marker} in its environment; one that cleared it could not be found without a cgroup"
        )
        return Audit("processes_gone", "unknown", evidence)
    return Audit("processes_gone", "pass", f"no process in its cgroup, and none with {marker} in its environment")


def orphans_gone(left: Sequence[Process]) -> Audit:
    """Of the run, which has adopted what lost its parents."""
    if left:
        pids = ", ".join(str(one.pid) for one in left)
        return Audit("processes_gone", "fail", f"processes {pids}, which perfq has adopted, still run")
    return Audit("processes_gone", "pass", "no process is left below perfq, which adopts what loses its parents")


def sandbox_gone(left: Sequence[Process], provable: bool, why: str | None) -> Audit:
    """Of a sandbox that stop_argv has ended; `why` it did not end well."""
    stopped = why or "stop_argv ended well"
    if left:
        pids = ", ".join(str(one.pid) for one in left)
        return Audit("processes_gone", "fail", f"processes {pids} still run; {stopped}")
    if not provable:
        return Audit("processes_gone", "unknown", f"what ran in the sandbox cannot be seen from here; {stopped}")
    return Audit("processes_gone", "pass", f"no process in the sandbox, by cgroup, namespace and descent; {stopped}")


def cgroup_empty(group: Group, vanished: bool, left: Sequence[str]) -> Audit:
    """`vanished`: it was gone before we removed it. `left`: folders that could not be removed."""
    if vanished:
        return Audit("cgroup_empty", "unknown", f"{group.members.folder} was removed by somebody else")
    if left:
        return Audit("cgroup_empty", "fail", "; ".join(left))
    return Audit("cgroup_empty", "pass", f"{group.members.folder} was empty and is removed")


def no_mounts(workspace: Path, mounted: Sequence[str]) -> Audit:
    """`mounted`: mount points in the workspace."""
    if mounted:
        return Audit("no_mounts", "fail", f"{', '.join(mounted)} is mounted in {workspace}")
    return Audit("no_mounts", "pass", f"nothing is mounted in {workspace}")


def workspace_removed(workspace: Path, why: str | None) -> Audit:
    """`why` it could not be; None: nothing hindered it."""
    if workspace.exists():
        return Audit("workspace_removed", "fail", why or f"{workspace} exists")
    return Audit("workspace_removed", "pass", f"{workspace} does not exist")


def no_oom(counters: Counters | None) -> Audit:
    """By the kernel's count for the session's group."""
    if counters is None or counters.oom is None:
        return Audit("no_oom", "unknown", "the kernel counts no OOM kills for the session")
    return Audit("no_oom", "fail" if counters.oom else "pass", f"OOM kills in its cgroup: {counters.oom}")


def no_swap(counters: Counters | None) -> Audit:
    """By the kernel's count, or because the machine has no swap."""
    if counters is None or counters.swap is None:
        return Audit("no_swap", "unknown", "the kernel counts no swap for the session")
    return Audit("no_swap", "fail" if counters.swap else "pass", f"bytes swapped out of its cgroup: {counters.swap}")


def no_oom_anywhere(kills: int | None) -> Audit:
    """By the machine's count while the session lived; whose process it was is not known."""
    if kills is None or kills > 0:
        return Audit(
            "no_oom", "unknown", f"OOM kills of the machine meanwhile: {kills}; the session has no count of its own"
        )
    return Audit("no_oom", "pass", "OOM kills of the machine meanwhile: 0")


def no_swap_anywhere(pages: int | None) -> Audit:
    """By the machine's count while the session lived."""
    if pages is None or pages > 0:
        return Audit("no_swap", "unknown", f"pages swapped out meanwhile: {pages}; the session has no count of its own")
    return Audit("no_swap", "pass", "pages swapped out by the machine meanwhile: 0")


def sampler_drained(drained: bool | None, evidence: str) -> Audit:
    """None: it is not known."""
    return Audit("sampler_drained", "unknown" if drained is None else "pass" if drained else "fail", evidence)


def no_sample_after_stop(last_ns: int | None, stopped_ns: int) -> Audit:
    """`last_ns`: the time of the session's last sample; None: it has none."""
    if last_ns is None:
        return Audit("no_sample_after_stop", "pass", "it has no sample")
    after = last_ns - stopped_ns
    evidence = f"the last sample came {abs(after)} ns {'after' if after > 0 else 'before'} its sampling was stopped"
    return Audit("no_sample_after_stop", "fail" if after > 0 else "pass", evidence)


def journal_closed(path: Path, closed: bool) -> Audit:
    """Of the run: nothing is left to be swept by a later start."""
    evidence = "says that nothing is left" if closed else "names what was started and is not known to be gone"
    return Audit("journal_closed", "pass" if closed else "fail", f"{path.name} {evidence}")
