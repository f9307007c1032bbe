"""Ages as kubectl prints them (duration.HumanDuration of Kubernetes)."""

from __future__ import annotations

__all__ = ["age"]

_DAY = 86_400
_YEAR = 365 * _DAY


def _two(large: int, large_unit: str, small: int, small_unit: str) -> str:
    return f"{large}{large_unit}{small}{small_unit}" if small else f"{large}{large_unit}"


def age(seconds: int) -> str:
    """At most two units, coarser with age."""
    if seconds < -1:
        return "<invalid>"
    seconds = max(0, seconds)
    minutes, hours, days, years = seconds // 60, seconds // 3600, seconds // _DAY, seconds // _YEAR
    if seconds < 120:
        return f"{seconds}s"
    if minutes < 10:
        return _two(minutes, "m", seconds % 60, "s")
    if minutes < 180:
        return f"{minutes}m"
    if hours < 8:
        return _two(hours, "h", minutes % 60, "m")
    if hours < 48:
        return f"{hours}h"
    if days < 8:
        return _two(days, "d", hours % 24, "h")
    if years < 2:
        return f"{days}d"
    if years < 8:
        return _two(years, "y", days % 365, "d")
    return f"{years}y"
