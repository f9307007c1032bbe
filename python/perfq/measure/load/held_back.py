"""One sentence on what held the load back, and what to do about it."""

from __future__ import annotations

from collections.abc import Mapping

from perfq.measure.result.common import Figures, Latency, LatencyName, ResultWarning
from perfq.measure.result.load import Load
from perfq.measure.wording import amount, duration, number

#: Warnings that a summary says beside the verdict.
CODE = "held_back"
FAILURES = "failures"


def held_back(load: Load, latency: Mapping[LatencyName, Latency | None]) -> ResultWarning | None:
    """As a warning; None where the rate was reached."""
    if load.cause is None or load.requested_rate is None or load.achieved_rate is None:
        return None
    rates = f"{amount(load.achieved_rate, '/s')} of {amount(load.requested_rate, '/s')} were reached"
    lag, slots, order = latency.get("lag"), latency.get("slot_wait"), latency.get("order_wait")
    # One segment runs after another.
    in_flight = number(max(one.runners * one.in_flight for one in load.segments))
    own = f"the generator's own lag was {_tail(lag)}"
    # What never came to a send is in no figure of the waiting.
    unsent = f" and {number(load.not_sent)} were never sent" if load.not_sent else ""
    match load.cause:
        case "lag":
            text = f"the generator held the load back: {rates}, since it was late by its own doing (lag {_tail(lag)}"
            busy = "" if load.engine_cpu_share is None else f", its busiest thread {load.engine_cpu_share:.0%} busy"
            text += f"{busy}), so that nothing here is the target's"
            advice = "give the generator more CPUs, or ask for a lower rate"
        case "slot_wait":
            text = f"the target held the load back: {rates}, since requests waited {_tail(slots)} for one of "
            text += f"{in_flight} slots in flight (slot_wait){unsent}, while {own}"
            advice = "ask for a lower rate, or for more in flight where the target may take more at once"
        case "order_wait":
            text = f"the target held the load back: {rates}, since requests waited {_tail(order)} for the former one "
            text += f"on the same object (order_wait){unsent}, while {own}"
            advice = "spread the load over more objects, or give up their order with --ordering none"
        case "unreachable":
            lost = (load.planned or 0) - (load.not_sent or 0) - load.sent
            most = max(load.errors, key=lambda key: load.errors[key], default="for no known reason")
            text = f"the target held the load back: {rates}, since {number(lost)} requests found no connection "
            text += f"({most}), while {own}"
            advice = "look at what became of the target: its log, and the errors over time"
        case "dropped":
            text = f"the target held the load back: {rates}, since {number(load.not_sent)} requests were dropped when "
            text += f"none of {in_flight} slots was free, while {own}"
            advice = "ask for a lower rate, or let requests wait with --overload queue"
    return ResultWarning(code=CODE, text=text, advice=advice, field="/load/achieved_rate")


def _tail(one: Figures | None) -> str:
    if one is None:
        return "not measured"
    known = [("p50", one.p50), ("p99", one.p99), ("max", one.max)]
    return ", ".join(f"{name} {duration(value)}" for name, value in known if value is not None)
