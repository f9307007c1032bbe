"""What the kernel has counted for a group by its end. Peaks and totals come from here and not from samples.

Files: memory.max_usage_in_bytes, memory.memsw.max_usage_in_bytes, memory.oom_control, memory.failcnt,
cpuacct.usage of v1; memory.peak, memory.swap.peak, memory.events, cpu.stat of v2.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from perfq.trajectory.cgroup.group import Group
from perfq.trajectory.cgroup.places import UNIFIED
from perfq.trajectory.cgroup.texts import keyed, number

_MEMINFO: Final = Path("/proc/meminfo")


@dataclass(frozen=True)
class Counters:
    """Bytes and ns; None: the kernel does not say."""

    memory_peak: int | None = None
    cpu_ns: int | None = None
    #: Processes that the kernel killed for want of memory in the group.
    oom: int | None = None
    #: The most that was swapped out; v1: what is, or by how much the peak of both was above that of memory alone.
    swap: int | None = None
    #: memory.events of v2; v1's failcnt as `max`.
    events: dict[str, int] = field(default_factory=dict)

    def record(self, n: int | None, t: int) -> dict[str, object]:
        """Its line in the record; `n` is None for the run as a whole."""
        return {"k": "tj_counters", "t": t, "n": n, **vars(self)}


def read(group: Group, meminfo: Path = _MEMINFO) -> Counters:
    """Before its folders are removed."""
    swapless = (_kib(meminfo, "SwapTotal")) == 0
    memory = group.hierarchies.get("memory")
    if memory is not None:
        counted = _memory_v1(memory.folder)
    elif UNIFIED in group.hierarchies:
        counted = _memory_v2(group.hierarchies[UNIFIED].folder)
    else:
        counted = Counters()
    swap = 0 if swapless else counted.swap
    return Counters(counted.memory_peak, _cpu_ns(group), counted.oom, swap, counted.events)


def usage_bytes(group: Group, usage: str) -> int | None:
    """Memory now: `current`, or `current_minus_inactive_file`. None: it is not counted."""
    memory = group.hierarchies.get("memory") or group.hierarchies.get(UNIFIED)
    if memory is None:
        return None
    v1 = memory.version == 1
    current = number(memory.folder / ("memory.usage_in_bytes" if v1 else "memory.current"))
    if current is None or usage == "current":
        return current
    stat = keyed(memory.folder / "memory.stat") or {}
    inactive = stat.get("total_inactive_file" if v1 else "inactive_file")
    return None if inactive is None else max(0, current - inactive)


def _memory_v1(folder: Path) -> Counters:
    peak = number(folder / "memory.max_usage_in_bytes")
    both = number(folder / "memory.memsw.max_usage_in_bytes")
    now = (keyed(folder / "memory.stat") or {}).get("total_swap")
    swap = None if peak is None or both is None or now is None else max(both - peak, now, 0)
    failed = number(folder / "memory.failcnt")
    oom = _below(folder, "memory.oom_control", "oom_kill")
    return Counters(peak, None, oom, swap, {} if failed is None else {"max": failed})


def _memory_v2(folder: Path) -> Counters:
    events = keyed(folder / "memory.events") or {}
    peak, swap = number(folder / "memory.peak"), number(folder / "memory.swap.peak")
    if swap is None and number(folder / "memory.swap.current"):
        swap = number(folder / "memory.swap.current")  # an older kernel, and some of it is out: that much is known
    return Counters(peak, None, events.get("oom_kill"), swap, events)


def _cpu_ns(group: Group) -> int | None:
    if "cpuacct" in group.hierarchies:
        return number(group.hierarchies["cpuacct"].folder / "cpuacct.usage")
    if UNIFIED not in group.hierarchies:
        return None
    usec = (keyed(group.hierarchies[UNIFIED].folder / "cpu.stat") or {}).get("usage_usec")
    return None if usec is None else usec * 1000


def _below(top: Path, name: str, key: str) -> int | None:
    """v1 counts kills where they happen: the sum over a folder and those in it."""
    folders = [top, *(one for one in top.iterdir() if one.is_dir())] if top.is_dir() else []
    found = [value for folder in folders if (value := (keyed(folder / name) or {}).get(key)) is not None]
    return sum(found) if found else None


def _kib(meminfo: Path, name: str) -> int | None:
    for line in meminfo.read_text().splitlines() if meminfo.exists() else []:
        key, _, rest = line.partition(":")
        if key == name:
            return int(rest.split()[0])
    return None
