"""A profile argument and the flags beside it → a profile that can be planned, or every broken rule at once.

Fields are checked by the model, the rules between fields by the core that plans
(`_core.Plan.violations`), so that each rule exists once. What is reported is the whole of both.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, Final

from perfq import _core
from perfq.profile.builtin import profile_source
from perfq.profile.document import Parsed, Problem, check, in_order, parse, refuse
from perfq.profile.override import Override, apply_overrides
from perfq.profile.source import Source
from perfq.profile.tree import Path
from perfq.profile.workload_model import PlanDocument, Profile


def resolve_profile(
    argument: str,
    *,
    duration: int | None = None,
    seed: int | None = None,
    assignments: Sequence[Override] = (),
) -> Profile:
    """A built-in id, path or `-`, and what flags change in it. UsageError (2) with every broken rule, one a line.

    `duration` is in seconds; it and `seed` hold over the `assignments` (of `--set`).
    """
    overrides = list(assignments)
    if seed is not None:
        overrides.append(Override(("seed",), seed, "--seed"))
    if duration is not None:
        overrides.append(Override(("duration_seconds",), duration, "--duration"))
    return resolve_source(profile_source(argument), overrides)


def resolve_source(source: Source, overrides: Sequence[Override] = ()) -> Profile:
    """Text and overrides → a profile that can be planned. UsageError (2) with every broken rule, one a line."""
    parsed = parse(source)
    parsed.problems += apply_overrides(parsed, overrides)
    profile, problems = check(parsed, Profile)
    problems = in_order(parsed, [*problems, *_violations(parsed, profile, problems)])
    if profile is None or problems:
        raise refuse(source.name, problems)
    return profile


def plan_document(plan: _core.Plan) -> str:
    """`perfq.plan/v1` as text: the same bytes for the same plan; a run's plan.json."""
    return PlanDocument.of(plan).to_json()


#: What stands in for a field that is broken itself, so that the rules between the others are still checked …
_NEUTRAL: Final[dict[str, Any]] = {
    "schema_version": 1,
    "id": "neutral",
    "seed": 0,
    "object_count": 1,
    "namespace_count": 1,
    "steady_events_per_second": 0,
    "duration_seconds": 86_400,
    "bursts": [],
    "failures": [],
}
_RATES: Final = {"steady_events_per_second", "duration_seconds", "bursts"}
#: … and the fields that each rule between fields reads, by the field that it is reported at.
_READS: Final[dict[str, set[str]]] = {
    "object_count": {"object_count", "namespace_count"},
    "bursts": {"bursts", "duration_seconds"},
    "duration_seconds": _RATES,
    "failures": {*_RATES, "failures"},
}


def _violations(parsed: Parsed, profile: Profile | None, problems: Sequence[Problem]) -> list[Problem]:
    """Broken rules between fields, where every field that a rule reads is sound itself."""
    if profile is not None:
        fields, broken = profile.model_dump(), set()
    elif isinstance(parsed.value, dict):
        broken = {str(problem.path[0]) for problem in problems if problem.path}
        written = {key: parsed.value[key] for key in _NEUTRAL if key in parsed.value and key not in broken}
        fields = {**_NEUTRAL, **written}
    else:
        return []
    found = []
    for dotted, got, expected in _core.Plan.violations(json.dumps(fields)):
        path = _path_of(dotted)
        if not _READS.get(str(path[0]), {str(path[0])}) & broken:
            found.append(parsed.positions.problem(path, got, expected))
    return found


def _path_of(dotted: str) -> Path:
    return tuple(int(step) if step.isdecimal() else step for step in dotted.split("."))
