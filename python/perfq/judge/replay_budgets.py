"""Budgets of a replay: what this plan and this kind of client can have, told from the manifest alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from perfq.judge.budget_rules import BudgetRules
from perfq.measure.phases import SECOND, Timeline
from perfq.measure.replay_manifest import ReplayManifest
from perfq.measure.result.common import BudgetStatus
from perfq.measure.result.paths import lookup
from perfq.profile.budgets import Budget, Conditions, parse_budget

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


@dataclass(frozen=True)
class ReplayBudgets(BudgetRules):
    """The rules of a replay."""

    manifest: ReplayManifest
    #: Scenarios that were walked.
    walked: int = 0

    def always(self) -> list[Budget]:
        """No scenario fails, and each injected failure is shown to be handled."""
        budgets = []
        if self.walked:
            why = "unconditional: what does not reach its screen does not work"
            budgets.append(parse_budget(f"{SCENARIOS_FAILED}==0", Conditions(rationale=why)))
        for kind in dict.fromkeys(str(failure["kind"]) for failure in self.manifest.plan.profile["failures"]):
            why = "unconditional: the profile is about this failure"
            budgets.append(parse_budget(f"replay.failures_injected.{kind}.shown==true", Conditions(rationale=why)))
        return budgets

    def why_not(self, budget: Budget) -> str | None:
        """Why the budget does not apply; None where it does."""
        return _not_by_client(budget, self.manifest) or _not_by_plan(budget, self.manifest)

    def meant(self, budget: Budget, items: Sequence[Any]) -> list[Any]:
        """Items are told by burst; those at other rates are left out."""
        rates = rates_of(budget, Timeline.of(self.manifest.plan.profile))
        return [item for item, rate in zip(items, rates, strict=False) if fits(budget, rate)]

    def unfinished(self, budget: Budget, found: Any, n: int | None) -> str | None:
        """Scenarios that were not walked to the end are no proof that none fails."""
        planned = len(self.manifest.options.scenarios)
        if budget.path == SCENARIOS_FAILED and not found and (n or 0) < planned:
            return f"{n} of {planned} scenarios were walked"
        return None

    def absent(self, budget: Budget, document: dict[str, Any], n: int | None) -> tuple[BudgetStatus, str]:
        """A failure's clause that this client cannot show is not held against it."""
        parts = budget.path.split(".")
        if not (budget.path.startswith("replay.failures_injected.") and parts[-1] == "shown"):
            return super().absent(budget, document, n)
        why = lookup(document, ".".join((*parts[:-1], "why"))) or "it cannot be told"
        client = self.manifest.client
        whole = client.has_probe and client.has_screen and client.has_cursor
        exercised = lookup(document, ".".join((*parts[:-1], "exercised")))
        return ("not_measurable" if whole or not exercised else "not_applicable"), str(why)

    def behind(self, budget: Budget, document: dict[str, Any]) -> str | None:
        """The scenarios that failed."""
        if budget.path == SCENARIOS_FAILED:
            walked = lookup(document, "replay.scenarios") or []
            return ", ".join(one["name"] for one in walked if not one["ok"]) or None
        return super().behind(budget, document)

    def samples(self, budget: Budget, document: dict[str, Any]) -> int | None:
        """The scenarios that were walked count as samples of their budget."""
        if budget.path == SCENARIOS_FAILED:
            return len(lookup(document, "replay.scenarios") or [])
        return super().samples(budget, document)


def rates_of(budget: Budget, timeline: Timeline) -> list[int]:
    """The rates at which the plan reaches what the budget is about: its bursts, or its steady phase."""
    if budget.phase == "burst" or budget.metric.startswith("replay.backlog.drain_ns"):
        return [burst.rate for burst in timeline.bursts]
    return [timeline.steady_rate]


def fits(budget: Budget, rate: int) -> bool:
    """Whether the limit is meant for this rate."""
    return (budget.min_rate is None or rate >= budget.min_rate) and (budget.max_rate is None or rate <= budget.max_rate)


def _not_by_client(budget: Budget, manifest: ReplayManifest) -> str | None:
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


def _not_by_plan(budget: Budget, manifest: ReplayManifest) -> str | None:
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
