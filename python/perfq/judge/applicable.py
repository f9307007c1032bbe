"""Can this plan and this kind of client have a budget's figure at all? Told from the manifest alone."""

from __future__ import annotations

from perfq.measure.manifest import Manifest
from perfq.measure.phases import SECOND, Timeline
from perfq.profile.budgets import Budget

_BY_PROBE = ("latency.event_to_client.", "replay.digests.")
_BY_TABLE = (
    "latency.event_to_render.",
    "latency.commit_to_render.",
    "replay.start.list_to_populated_ns",
    "replay.updates.rendered",
    "replay.updates.coalesced",
    "replay.updates.dropped",
    "replay.backlog.",
    "replay.digests.table",
)
_BY_SCREEN = ("latency.event_to_screen.", "replay.start.populated_screen_ns", "replay.probes.")
_BY_CURSOR = ("latency.input.", "replay.input.")
SCENARIOS_FAILED = "replay.scenarios_failed"
_OF_A_REPLAY = ("latency.", "process.", "api.", "replay.")


def why_not(budget: Budget, manifest: Manifest) -> str | None:
    """Why the budget does not apply; None where it does."""
    return _not_by_client(budget, manifest) or _not_by_plan(budget, manifest)


def rates_of(budget: Budget, timeline: Timeline) -> list[int]:
    """The rates at which the plan reaches what the budget is about: its bursts, or its steady phase."""
    if budget.phase == "burst" or budget.metric.startswith("replay.backlog.drain_ns"):
        return [burst.rate for burst in timeline.bursts]
    return [timeline.steady_rate]


def fits(budget: Budget, rate: int) -> bool:
    """Whether the limit is meant for this rate."""
    return (budget.min_rate is None or rate >= budget.min_rate) and (budget.max_rate is None or rate <= budget.max_rate)


def _not_by_client(budget: Budget, manifest: Manifest) -> str | None:
    client, metric = manifest.client, budget.metric
    if not metric.startswith(_OF_A_REPLAY):
        return f"a {manifest.kind} has no {metric.partition('.')[0]} figures"
    if "live" in budget.needs and manifest.kind != "live":
        return "it is meant for a live cluster"
    if ("probe" in budget.needs or metric.startswith((*_BY_PROBE, *_BY_TABLE))) and not client.has_probe:
        return f"{client.name} does not report from inside (no probe)"
    if ("rendered_cell" in budget.needs or metric.startswith(_BY_TABLE)) and not client.has_table:
        return f"{client.name} keeps no table"
    if metric.startswith(_BY_SCREEN) and not (client.has_screen and manifest.options.probes):
        return f"{client.name} shows no rows" if not client.has_screen else "no probe events were asked for"
    if metric == "replay.start.interactive_ns" and not client.has_ready:
        return f"the definition of {client.name} has no ready pattern"
    if metric.startswith(_BY_CURSOR) and not (client.has_cursor and manifest.options.input_pairs):
        return f"{client.name} has no cursor" if not client.has_cursor else "no input was asked for"
    if metric == SCENARIOS_FAILED and not manifest.options.scenarios:
        return "no scenario was to be walked"
    return None


def _not_by_plan(budget: Budget, manifest: Manifest) -> str | None:
    plan = manifest.plan
    timeline = Timeline.of(plan.profile)
    if budget.min_duration is not None and timeline.end < budget.min_duration * SECOND:
        return f"the plan lasts {timeline.seconds} s, the budget is meant for {budget.min_duration} s and more"
    if budget.metric.startswith("latency.event_to_diff."):
        return "every event of this plan changes a rendered cell"
    if budget.metric.startswith("replay.failures_injected."):
        kind = budget.metric.split(".")[2]
        if not any(failure["kind"] == kind for failure in plan.profile["failures"]):
            return f"the plan injects no {kind}"
    rates = rates_of(budget, timeline)
    if not rates:
        return "the plan has no burst"
    if budget.phase == "steady" and not timeline.steady_rate:
        return "the plan has no steady events"
    if not any(fits(budget, rate) for rate in rates):
        wanted = f"at least {budget.min_rate}/s" if budget.min_rate is not None else f"at most {budget.max_rate}/s"
        return f"the plan has {', '.join(f'{rate}/s' for rate in rates)}, the budget is meant for {wanted}"
    return None
