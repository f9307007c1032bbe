"""The answer: ABORTED, INVALID, FAIL or PASS, why, and the exit code. Validity comes before budgets."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from perfq.errors import worst
from perfq.judge.budgets import evaluate
from perfq.judge.run_rules import RunRules
from perfq.judge.validity import complaints, validity_of
from perfq.measure.recorded import Recorded
from perfq.measure.result import Result
from perfq.measure.result.common import MISSED, Artifact, BudgetResult, Check, Cleanup, Status, Validity, Verdict
from perfq.measure.wording import budget_limit, budget_seen
from perfq.profile.budgets import Budget

_EXIT_CODES: Final[dict[Status, int]] = {"PASS": 0, "FAIL": 3, "INVALID": 4, "ABORTED": 4}
_SIGNALS: Final = frozenset({"SIGINT", "SIGTERM"})
#: The rule on figures that budgets need.
FIGURES: Final = "budgets without their figure"
NOTHING_LEFT: Final = Cleanup(complete=True)


@dataclass(frozen=True)
class Judgement:
    """The judged result, the exit code of the run, and what was judged."""

    result: Result
    exit_code: int
    recorded: Recorded


def judge(
    recorded: Recorded,
    *,
    budgets: Sequence[Budget] | None = None,
    artifacts: Sequence[Artifact] = (),
    cleanup: Cleanup = NOTHING_LEFT,
) -> Judgement:
    """Judges what `fold` gave. `budgets` are the manifest's where none are given."""
    asked = list(recorded.manifest.budgets if budgets is None else budgets)
    rules = rules_of(recorded)
    document = _document(recorded)
    judged = [evaluate(one, document, rules.budgets) for one in _with_unconditional(asked, rules)]
    validity = _with_budgets(validity_of(rules.checks), judged, rules)
    status, reasons = _status(recorded, rules, validity, (judged, asked))
    blocks: dict[str, Any] = recorded.blocks()
    result = recorded.model()(
        kind=recorded.manifest.kind,
        run_id=recorded.manifest.run_id,
        verdict=Verdict(status=status, reasons=reasons),
        validity=validity,
        manifest=recorded.part,
        latency=recorded.latency,
        process=recorded.process,
        api=recorded.api,
        budgets=judged,
        warnings=list(recorded.warnings),
        artifacts=list(artifacts),
        cleanup=cleanup,
        **blocks,
    )
    return Judgement(result=result, exit_code=_exit_code(recorded, status, cleanup), recorded=recorded)


def rules_of(recorded: Recorded) -> RunRules:
    """The rules of this kind of run; those of the others are not loaded."""
    match recorded.manifest.kind:
        case "load" | "fleet":
            from perfq.judge.load_rules import load_rules
            from perfq.measure.load.recorded import LoadRecorded

            if isinstance(recorded, LoadRecorded):
                return load_rules(recorded)
        case "trajectory":
            from perfq.judge.trajectory_rules import trajectory_rules
            from perfq.measure.trajectory.recorded import TrajectoryRecorded

            if isinstance(recorded, TrajectoryRecorded):
                return trajectory_rules(recorded)
        case "replay" | "live":
            from perfq.judge.replay_rules import replay_rules
            from perfq.measure.replay_recorded import ReplayRecorded

            if isinstance(recorded, ReplayRecorded):
                return replay_rules(recorded)
    raise TypeError(f"no rules for a {recorded.manifest.kind}")


def budget_sentence(budget: BudgetResult) -> str:
    """`latency.input.p95 (steady): 120 ms, limit <= 100 ms, n 98`; of a missed one, also what missed it by name."""
    phase = f" ({budget.phase})" if budget.phase not in (None, "all") else ""
    count = "" if budget.n is None else f", n {budget.n}"
    return f"{budget.metric}{phase}: {budget_seen(budget)}, limit {budget_limit(budget)}{count}"


def _document(recorded: Recorded) -> dict[str, Any]:
    return {
        "latency": {name: None if one is None else one.plain() for name, one in recorded.latency.items()},
        "process": recorded.process.plain(),
        "api": None if recorded.api is None else recorded.api.plain(),
        **{name: block.plain() for name, block in recorded.blocks().items()},
    }


def _with_unconditional(asked: list[Budget], rules: RunRules) -> list[Budget]:
    """Those that hold anyway come where nobody asked for them."""
    named = {(budget.metric, budget.operator, budget.limit) for budget in asked}
    added = [one for one in rules.budgets.always() if (one.metric, one.operator, one.limit) not in named]
    return [*asked, *added]


def _with_budgets(validity: Validity, judged: Sequence[BudgetResult], rules: RunRules) -> Validity:
    """A figure that a budget needs and that is not there makes the run invalid."""
    if not rules.began:
        return validity
    lacking = [one for one in judged if one.status == "not_measurable"]
    excused = rules.failure is not None
    check = Check(
        name=FIGURES,
        observed=len(lacking),
        limit=0,
        unit="count",
        status="passed" if not lacking else "not_applicable" if excused else "failed",
        advice="; ".join(budget_sentence(one) for one in lacking) if lacking and not excused else None,
    )
    return validity_of([*validity.checks, check])


def _status(
    recorded: Recorded,
    rules: RunRules,
    validity: Validity,
    budgets: tuple[Sequence[BudgetResult], Sequence[Budget]],
) -> tuple[Status, list[str]]:
    evidence = recorded.evidence
    judged, asked = budgets
    missed = [f"{MISSED}: {budget_sentence(one)}" for one in judged if one.status == "missed"]
    if evidence.killed:
        return "ABORTED", ["perfq was killed; what was recorded until then is here"]
    if evidence.stop is not None:
        figure = "" if evidence.stop.figure is None else f": {evidence.stop.figure}"
        return "ABORTED", [f"stopped by {evidence.stop.why}{figure}"]
    if not validity.valid:
        return "INVALID", complaints(validity)
    if rules.failure is not None:
        return "FAIL", [rules.failure, *missed]
    if missed:
        return "FAIL", missed
    return "PASS", [] if asked else ["no budgets but those that always hold" if judged else "no budgets"]


def _exit_code(recorded: Recorded, status: Status, cleanup: Cleanup) -> int:
    stop = recorded.evidence.stop
    code = _EXIT_CODES[status]
    if status == "ABORTED" and stop is not None and stop.why in _SIGNALS:
        code = 130
    return worst([code] if cleanup.complete else [code, 6])
