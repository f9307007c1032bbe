"""One line on where a load stands."""

from __future__ import annotations

from typing import TYPE_CHECKING

from perfq import units

if TYPE_CHECKING:
    from perfq._core import LoadProgress


def status(state: LoadProgress) -> str:
    """`12.0/30 s · 998/s of 1,000/s · in flight 12 · errors 3 · lag 0.1 ms`."""
    if state["state"] == "warming":
        return f"{_segment(state)}opening connections"
    elapsed = state["elapsed_ns"] / 1e9
    whole = "" if state["end_ns"] is None else f"/{state['end_ns'] / 1e9:g}"
    parts = [f"{_segment(state)}{elapsed:.1f}{whole} s", _rate(state)]
    if state["state"] == "draining":
        parts[0] += ", draining"
    parts.append(f"in flight {state['in_flight']:,}")
    if state["waiting"]:
        parts.append(f"waiting {state['waiting']:,}")
    if state["watches"]:
        parts.append(f"watches {state['watches']:,}")
    parts.append(f"errors {sum(state['errors'].values()) + state['timed_out']:,}")
    if state["lag_ns"] is not None:
        parts.append(f"lag {units.show_duration(state['lag_ns'])}")
    return " · ".join(parts)


def _segment(state: LoadProgress) -> str:
    return f"segment {state['segment'] + 1} of {state['segments']}: " if state["segments"] > 1 else ""


def _rate(state: LoadProgress) -> str:
    asked = state["requested_rate"]
    return f"{state['rate']:,}/s" if asked is None else f"{state['rate']:,}/s of {asked:,.6g}/s"
