"""What the kernel counts for the whole machine, where it counts nothing for a session: /proc/vmstat."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Final

from perfq.trajectory.cgroup.texts import keyed

_VMSTAT: Final = Path("/proc/vmstat")


@dataclass(frozen=True)
class MachineCounts:
    """Since boot; None: the kernel does not say."""

    oom_kill: int | None
    pswpout: int | None

    @classmethod
    def now(cls, vmstat: Path = _VMSTAT) -> MachineCounts:
        """As they are."""
        found = keyed(vmstat) or {}
        return cls(found.get("oom_kill"), found.get("pswpout"))

    def since(self, before: MachineCounts) -> MachineCounts:
        """What has come to them."""
        return MachineCounts(_less(self.oom_kill, before.oom_kill), _less(self.pswpout, before.pswpout))


def _less(now: int | None, before: int | None) -> int | None:
    return None if now is None or before is None else now - before
