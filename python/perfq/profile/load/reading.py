"""Text → a load profile and its runners, or every error at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from perfq.profile.document import Parsed, Positions, Problem, check_with_rules, drop_unknown, parse, refuse
from perfq.profile.load.profile import LoadProfile, RunnerGroup
from perfq.profile.load.rules import broken_rules, group_rules
from perfq.profile.override import Override, apply_overrides
from perfq.profile.source import Source
from perfq.profile.tree import Path, Place


@dataclass(frozen=True, slots=True)
class LoadDocument:
    """A checked load profile or runner group."""

    #: Exactly one of these two is there: what each runner does, or the path or URL of what they replay.
    profile: LoadProfile | None
    replay_profile: str | None
    #: Of a runner group; None for a load profile alone, which is one runner's.
    count: int | None
    positions: Positions
    #: Unknown keys that were allowed.
    warnings: tuple[Problem, ...]


def is_runner_group(value: Any) -> bool:
    """Whether a document's value means to be a runner group."""
    return isinstance(value, dict) and any(key in value for key in ("count", "loadProfile", "replayProfile"))


def load_document(source: Source, *, allow_unknown: bool = False, overrides: Sequence[Override] = ()) -> LoadDocument:
    """A load profile or runner group. UsageError (2) with every error of it, one a line.

    `overrides` use today's names (`specs.0.rate`), also where the document has the older ones.
    """
    parsed = parse(source)
    group = is_runner_group(parsed.value)
    parsed.problems += rename_older_keys(parsed, ("loadProfile",) if group else ())
    parsed.problems += apply_overrides(parsed, overrides)
    model: type[RunnerGroup | LoadProfile] = RunnerGroup if group else LoadProfile
    warnings = drop_unknown(parsed, model) if allow_unknown else []
    rules = group_rules(parsed.value) if group else broken_rules(parsed.value)
    checked, problems = check_with_rules(parsed, model, rules)
    if checked is None or problems:
        raise refuse(source.name, problems)
    if isinstance(checked, RunnerGroup):
        profile, replay, count = checked.load_profile, checked.replay_profile, checked.count
    else:
        profile, replay, count = checked, None, None
    return LoadDocument(profile, replay, count, parsed.positions, tuple(warnings))


def rename_older_keys(parsed: Parsed, at: Path) -> list[Problem]:
    """`spec` → `specs` of one, `Requests` → `requests`, one watch → a list of one; the value and its places."""
    value, place = parsed.value, parsed.positions.place.find(at)
    for step in at:
        value = value.get(step) if isinstance(value, dict) else None
    if not isinstance(value, dict) or not isinstance(place.parts, dict):
        return []
    problems = _rename(parsed, value, place, ("spec", "specs"), at)
    if isinstance(value.get("specs"), dict):
        _wrap(value, place, "specs")
    specs = place.parts.get("specs")
    if isinstance(value.get("specs"), list) and specs is not None and isinstance(specs.parts, list):
        for index, (spec, below) in enumerate(zip(value["specs"], specs.parts, strict=True)):
            if isinstance(spec, dict):
                problems += _rename(parsed, spec, below, ("Requests", "requests"), (*at, "specs", index))
                if isinstance(spec.get("watch"), dict):
                    _wrap(spec, below, "watch")
    return problems


def _rename(parsed: Parsed, value: dict[str, Any], place: Place, keys: tuple[str, str], at: Path) -> list[Problem]:
    older, today = keys
    if older not in value or not isinstance(place.parts, dict):
        return []
    if today in value:
        return [parsed.positions.problem((*at, older), f"{older} beside {today}", f"{today} alone")]
    value[today], place.parts[today] = value.pop(older), place.parts.pop(older)
    return []


def _wrap(value: dict[str, Any], place: Place, key: str) -> None:
    if isinstance(place.parts, dict):
        inner = place.parts[key]
        value[key], place.parts[key] = [value[key]], Place(inner.line, [inner])
