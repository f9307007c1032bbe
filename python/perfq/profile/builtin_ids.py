"""The ids of the built-in profiles, apart from their loading: the shell's completion needs nothing else."""

from __future__ import annotations

from typing import Final

#: In the order in which people meet them: from small to large, then one for each failure kind.
BUILTIN_IDS: Final[tuple[str, ...]] = (
    "smoke-1k",
    "steady-24eps-1k",
    "steady-10k",
    "burst-50k",
    "aks-1k",
    "aks-live-1k",
    "fail-gone-1k",
    "fail-throttled-1k",
    "fail-forbidden-1k",
    "fail-slow-1k",
    "fail-metrics_unavailable-1k",
    "fail-slow_logs-1k",
)
