"""Figures in words: one way for validity, budgets and reasons."""

from __future__ import annotations

from perfq import units


def amount(value: object, unit: str | None) -> str:
    """`12.1 ms`, `85 %`, `true`, `3`; `unknown` for None."""
    if value is None:
        return "unknown"
    if isinstance(value, bool):
        return "true" if value else "false"
    if not isinstance(value, int | float):
        return str(value)
    match unit:
        case "ns":
            return units.show_duration(value)
        case "s":
            return units.show_duration(value * units.SECOND)
        case "bytes":
            return units.show_bytes(value)
        case "bytes/min":
            return f"{units.show_bytes(value)}/min"
        case "/s":
            return f"{value:.4g}/s"
        case "percent":
            return f"{value:.3g} %"
        case "ratio":
            return f"{100 * value:.3g} %"
    return f"{value:.6g}" if isinstance(value, float) else f"{value}"
