"""This host, for the manifest: what cannot be read is None."""

from __future__ import annotations

import os
import platform
from pathlib import Path
from typing import Any


def _read(path: str) -> str | None:
    try:
        return Path(path).read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None


def _field(text: str | None, name: str, separator: str = ":") -> str | None:
    for line in (text or "").splitlines():
        key, found, value = line.partition(separator)
        if found and key.strip() == name:
            return value.strip().strip('"') or None
    return None


def quota_cpus(text: str | None) -> float | None:
    """CPUs of a cgroup v2 `cpu.max` ("200000 100000" is 2.0); None for "max" or an unreadable text."""
    parts = (text or "").split()
    if len(parts) != 2 or not all(part.isdigit() for part in parts) or int(parts[1]) == 0:
        return None
    return int(parts[0]) / int(parts[1])


def cpus_allowed() -> float:
    """The lesser of affinity and the cgroup v2 quotas from this process's group up to the root."""
    allowed = float(len(os.sched_getaffinity(0)))
    group = next((line[3:] for line in (_read("/proc/self/cgroup") or "").splitlines() if line.startswith("0::")), "/")
    path = Path("/sys/fs/cgroup") / group.lstrip("/")
    for folder in (path, *path.parents):
        quota = quota_cpus(_read(f"{folder}/cpu.max"))
        if quota is not None:
            allowed = min(allowed, quota)
    return allowed


def read_host() -> dict[str, Any]:
    """The fields of HostFacts."""
    memory = (_field(_read("/proc/meminfo"), "MemTotal") or "").split()
    return {
        "os": _field(_read("/etc/os-release"), "PRETTY_NAME", "=") or platform.system() or None,
        "kernel": platform.release() or None,
        "cpu": _field(_read("/proc/cpuinfo"), "model name") or platform.machine() or None,
        "cpu_count": os.cpu_count(),
        "cpus_allowed": cpus_allowed(),
        "memory_bytes": int(memory[0]) * 1024 if memory and memory[0].isdigit() else None,
        "python": platform.python_version(),
    }
