"""`perfq.budgets/v1`: budgets.yaml, the presets (which are such files), and what the flags name."""

from __future__ import annotations

import os
from collections.abc import Sequence
from importlib.resources import files
from typing import Literal

from pydantic import Field, field_validator

from perfq import units
from perfq.errors import UsageError
from perfq.profile.budgets import PRESETS, Budget, Conditions, Need, Phase, parse_budget
from perfq.profile.document import Loaded, Problem, Strict, load, refuse
from perfq.profile.shown import nearest, show_text
from perfq.profile.source import Source


class BudgetEntry(Strict):
    """A limit on one figure of the result, and when it applies."""

    metric: str = Field(min_length=1, description="Dotted path in result.json.")
    limit: str = Field(min_length=1, description='Operator (< <= > >= ==) and value with its unit: "<=250ms".')
    phase: Phase | None = Field(None, description="Which part of the run; only for latencies.")
    min_duration: int | str | None = Field(None, description="How long a run has to be for it to apply: 30m.")
    min_rate: int | None = Field(None, ge=0, description="Events/s that the phase must have for it to apply.")
    max_rate: int | None = Field(None, ge=0, description="Events/s above which it does not apply.")
    needs: list[Need] = Field(default_factory=list, description="What must be there for the figure to exist.")
    was: str | None = Field(None, description="The limit before it was changed.")
    rationale: str | None = Field(None, description="Why this limit.")

    @field_validator("min_duration")
    @classmethod
    def _seconds(cls, value: int | str | None) -> int | None:
        return units.parse_seconds(str(value)) if value is not None else None

    def budget(self) -> Budget:
        """As the judge takes it. ValueError says what is expected instead."""
        conditions = Conditions(
            phase=self.phase,
            min_duration=self.min_duration if isinstance(self.min_duration, int) else None,
            min_rate=self.min_rate,
            max_rate=self.max_rate,
            needs=tuple(self.needs),
            was=self.was,
            rationale=self.rationale,
        )
        return parse_budget(f"{self.metric}{self.limit}", conditions)


class BudgetFile(Strict):
    """budgets.yaml."""

    schema_: Literal["perfq.budgets/v1"] = Field(alias="schema", description="The name of this format.")
    budgets: list[BudgetEntry] = Field(description="Each is judged on its own.")


def load_budgets(source: Source | str | os.PathLike[str]) -> tuple[Budget, ...]:
    """Reads a budget file. UsageError (2) with every error of it, one a line."""
    return _budgets_in(load(source, BudgetFile))


def preset(name: str) -> tuple[Budget, ...]:
    """The budgets of a preset. UsageError (2), with the nearest name, for an unknown one."""
    if name not in PRESETS:
        raise UsageError(
            f"--preset {show_text(name)}: got an unknown preset, expected one of {', '.join(PRESETS)}"
            f"{nearest(name, PRESETS)}"
        )
    return load_budgets(Source(name, files("perfq.profiles").joinpath("presets", f"{name}.yaml").read_bytes()))


def budgets_of(texts: Sequence[str], presets: Sequence[str]) -> tuple[Budget, ...]:
    """What `--preset` and `--budget` name, in that order; a --budget without an operator is a file.

    UsageError (2) with every text that is no budget. The same limit twice counts once.
    """
    found = [budget for name in presets for budget in preset(name)]
    problems = []
    for text in texts:
        if not any(sign in text for sign in "<>="):
            found += load_budgets(text)
            continue
        try:
            found.append(parse_budget(text))
        except ValueError as error:
            problems.append(Problem(f"--budget {show_text(text)}", (), show_text(text), str(error)))
    if problems:
        raise refuse("--budget", problems)
    return tuple(dict.fromkeys(found))


def _budgets_in(loaded: Loaded[BudgetFile]) -> tuple[Budget, ...]:
    found, problems = [], []
    for index, entry in enumerate(loaded.model.budgets):
        try:
            found.append(entry.budget())
        except ValueError as error:
            at = ("budgets", index, "limit")
            got = f"{entry.metric} {entry.limit}"
            problems.append(loaded.positions.problem(at, show_text(got), str(error)))
    if problems:
        raise refuse(loaded.positions.name, problems)
    return tuple(found)
