"""The answer: ABORTED, INVALID, FAIL or PASS, why, and the exit code. Validity comes before budgets."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from perfq.errors import worst
from perfq.judge import budgets as budget_rules
from perfq.judge.applicable import SCENARIOS_FAILED
from perfq.judge.validity import complaints, judge_validity
from perfq.measure.evidence import exit_text
from perfq.measure.recorded import Recorded
from perfq.measure.result import Result
from perfq.measure.result.common import Artifact, BudgetResult, Check, Cleanup, Status, Validity, Verdict
from perfq.measure.wording import amount
from perfq.profile.budgets import Budget

_EXIT_CODES: Final[dict[Status, int]] = {"PASS": 0, "FAIL": 3, "INVALID": 4, "ABORTED": 4}
_SIGNALS: Final = frozenset({"SIGINT", "SIGTERM"})
NOTHING_LEFT: Final = Cleanup(complete=True)


@dataclass(frozen=True)
class Judgement:
    """The judged result, and the exit code of the run."""

    result: Result
    exit_code: int


def judge(
    recorded: Recorded,
    *,
    budgets: Sequence[Budget] | None = None,
    artifacts: Sequence[Artifact] = (),
    cleanup: Cleanup = NOTHING_LEFT,
) -> Judgement:
    """Judges what `fold` gave. `budgets` are the manifest's where none are given."""
    asked = list(recorded.manifest.budgets if budgets is None else budgets)
    document = _document(recorded)
    judged = [budget_rules.evaluate(one, document, recorded.manifest) for one in _with_unconditional(asked, recorded)]
    validity = _with_budgets(judge_validity(recorded), judged, recorded)
    status, reasons = _status(recorded, validity, judged, asked)
    result = Result(
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
        allocations=recorded.allocations,
        replay=recorded.replay,
    )
    return Judgement(result=result, exit_code=_exit_code(recorded, status, cleanup))


def budget_sentence(budget: BudgetResult) -> str:
    """`latency.input.p95 (steady): 120 ms, limit <= 100 ms, n 98`."""
    phase = f" ({budget.phase})" if budget.phase not in (None, "all") else ""
    seen = amount(budget.observed, budget.unit)
    if budget.observed is None and budget.why is not None:
        seen = budget.why
    count = "" if budget.n is None else f", n {budget.n}"
    return f"{budget.metric}{phase}: {seen}, limit {budget.op} {amount(budget.limit, budget.unit)}{count}"


def _document(recorded: Recorded) -> dict[str, Any]:
    return {
        "latency": {name: None if one is None else one.plain() for name, one in recorded.latency.items()},
        "process": recorded.process.plain(),
        "api": recorded.api.plain(),
        "replay": recorded.replay.plain(),
    }


def _with_unconditional(asked: list[Budget], recorded: Recorded) -> list[Budget]:
    """Those that hold anyway come where there is something to hold and nobody asked for them."""
    named = {(budget.metric, budget.operator, budget.limit) for budget in asked}
    added = [
        budget
        for budget in budget_rules.always(recorded.manifest)
        if (budget.metric, budget.operator, budget.limit) not in named
        and (budget.metric != SCENARIOS_FAILED or recorded.replay.scenarios)
    ]
    return [*asked, *added]


def _with_budgets(validity: Validity, judged: Sequence[BudgetResult], recorded: Recorded) -> Validity:
    """A figure that a budget needs and that is not there makes the run invalid."""
    if not recorded.evidence.churn_began:
        return validity
    lacking = [one for one in judged if one.status == "not_measurable"]
    excused = recorded.replay.client_exit is not None
    check = Check(
        name="budgets without their figure",
        observed=len(lacking),
        limit=0,
        unit="count",
        status="passed" if not lacking else "not_applicable" if excused else "failed",
        advice="; ".join(budget_sentence(one) for one in lacking) if lacking and not excused else None,
    )
    return Validity(valid=validity.valid and check.status != "failed", checks=[*validity.checks, check])


def _status(
    recorded: Recorded, validity: Validity, judged: Sequence[BudgetResult], asked: Sequence[Budget]
) -> tuple[Status, list[str]]:
    evidence, left = recorded.evidence, recorded.replay.client_exit
    missed = [f"budget missed: {budget_sentence(one)}" for one in judged if one.status == "missed"]
    if evidence.killed:
        return "ABORTED", ["perfq was killed; what was recorded until then is here"]
    if evidence.stop is not None:
        figure = "" if evidence.stop.figure is None else f": {evidence.stop.figure}"
        return "ABORTED", [f"stopped by {evidence.stop.why}{figure}"]
    if not validity.valid:
        return "INVALID", complaints(validity)
    if left is not None:
        after = amount(left.after_ns, "ns")
        return "FAIL", [f"client_exit: {exit_text(left.code, left.signal)}, {after} after churn began", *missed]
    if missed:
        return "FAIL", missed
    return "PASS", [] if asked else ["no budgets but those that always hold" if judged else "no budgets"]


def _exit_code(recorded: Recorded, status: Status, cleanup: Cleanup) -> int:
    stop = recorded.evidence.stop
    code = _EXIT_CODES[status]
    if status == "ABORTED" and stop is not None and stop.why in _SIGNALS:
        code = 130
    return worst([code] if cleanup.complete else [code, 6])
