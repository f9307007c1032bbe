"""The rules of a replay."""

from __future__ import annotations

from perfq.judge.replay_budgets import ReplayBudgets
from perfq.judge.replay_client_rules import client_checks
from perfq.judge.replay_harness_rules import replay_harness_checks
from perfq.judge.run_rules import RunRules
from perfq.measure.evidence import exit_text
from perfq.measure.replay_recorded import ReplayRecorded
from perfq.measure.result.common import Check
from perfq.measure.wording import amount


def replay_rules(recorded: ReplayRecorded) -> RunRules:
    """Every rule of a replay. Where churn never began, that alone is judged."""
    ready = _ready(recorded)
    began = recorded.evidence.churn_began
    return RunRules(
        checks=[ready, *replay_harness_checks(recorded), *client_checks(recorded)] if began else [ready],
        budgets=ReplayBudgets(recorded.manifest, walked=len(recorded.replay.scenarios)),
        began=began,
        failure=_client_exit(recorded),
    )


def _ready(recorded: ReplayRecorded) -> Check:
    evidence = recorded.evidence
    return Check(
        name="client ready",
        observed="ready" if evidence.churn_began else evidence.not_ready,
        limit=None,
        status="passed" if evidence.churn_began else "failed",
    )


def _client_exit(recorded: ReplayRecorded) -> str | None:
    left = recorded.replay.client_exit
    if left is None:
        return None
    return f"client_exit: {exit_text(left.code, left.signal)}, {amount(left.after_ns, 'ns')} after churn began"
