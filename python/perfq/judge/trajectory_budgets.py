"""Budgets of replayed sessions: what these can have, and what is always judged."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from perfq.judge.budget_rules import BudgetRules
from perfq.measure.result.trajectory import Trajectory
from perfq.measure.trajectory.manifest import TrajectoryManifest
from perfq.profile.budgets import Budget, Conditions, parse_budget

_ALWAYS: Final = {
    "trajectory.sessions.failed": "unconditional: a session that failed has not done its work",
    "trajectory.audits.failed": "unconditional: what an exit audit found was left or went wrong",
}


@dataclass(frozen=True)
class TrajectoryBudgets(BudgetRules):
    """The rules of replayed sessions."""

    manifest: TrajectoryManifest
    trajectory: Trajectory

    def always(self) -> list[Budget]:
        """No session fails, and no exit audit does."""
        return [parse_budget(f"{metric}<=0", Conditions(rationale=why)) for metric, why in _ALWAYS.items()]

    def why_not(self, budget: Budget) -> str | None:
        """Why the budget does not apply; None where it does."""
        metric, facts = budget.metric, self.manifest.sessions
        if not metric.startswith(("process.", "trajectory.")):
            return f"a trajectory has no {metric.partition('.')[0]} figures"
        if metric.startswith("process.client."):
            return "sessions have no client under test"
        if budget.needs or budget.phase in ("steady", "burst"):
            return "it is meant for a client under test"
        if facts.sampling == "off" and metric.startswith(("trajectory.sampling.", "trajectory.memory_bytes.mean")):
            return "sampling is off (sampling.mode)"
        paused = metric.startswith(("trajectory.waits.pause_ns.", "trajectory.waits.resume_ns."))
        if paused and not self.trajectory.waits.pause_ns.max and facts.wait_mode == "idle":
            return "waits pause nothing (wait.mode is idle)"
        return None

    def samples(self, budget: Budget, document: dict[str, Any]) -> int | None:
        """Means and maxima are over sessions, latenesses over waits."""
        block = self.trajectory
        parts = budget.path.split(".")
        if parts[:2] == ["trajectory", "waits"] and len(parts) == 4:
            return block.waits.count
        if parts[:2] in (["trajectory", "extra_wait_ns"], ["trajectory", "init_ns"], ["trajectory", "exec_ns_mean"]):
            return block.sessions.completed + block.sessions.failed
        return super().samples(budget, document)
