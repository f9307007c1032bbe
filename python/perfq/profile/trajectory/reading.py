"""Files → sessions and profiles, or every error at once.

A session is one JSON (or YAML) document, or JSON lines: the session without its steps on the first line, then one
step a line. Further sessions may follow in the same file; a line with the key `schema` begins one.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeVar

from perfq.errors import UsageError
from perfq.profile.document import Broken, Parsed, Positions, Problem, Strict, check_with_rules, parse, refuse
from perfq.profile.json_text import read_json
from perfq.profile.override import Override, apply_overrides
from perfq.profile.shown import show_value
from perfq.profile.source import Source, read_source
from perfq.profile.trajectory.profile import SCHEMA as PROFILE_SCHEMA
from perfq.profile.trajectory.profile import TrajectoryProfile
from perfq.profile.trajectory.rules import profile_rules, session_rules
from perfq.profile.trajectory.trajectory import SCHEMA, Trajectory
from perfq.profile.tree import Path, Place, TreeBuilder, Unreadable

#: Scripts may be long; a session of an hour has some hundred kilobytes.
LARGEST_SESSION: Final = 64 << 20

#: Of a profile: sections that may be left out, and what an empty one needs.
_SECTIONS: Final[dict[str, dict[str, Any]]] = {
    **{key: {} for key in ("admission", "launch", "command", "wait", "sampling")},
    "backend": {"kind": "local"},
}

M = TypeVar("M", bound=Strict)


@dataclass(frozen=True, slots=True)
class LoadedProfile:
    """A checked profile, and where its parts stand."""

    profile: TrajectoryProfile
    positions: Positions


def load_profile(source: Source | str | os.PathLike[str], overrides: Sequence[Override] = ()) -> LoadedProfile:
    """A profile. UsageError (2) with every error of it, one a line."""
    parsed = parse(source if isinstance(source, Source) else read_source(source))
    _add_sections(parsed, overrides)
    parsed.problems += apply_overrides(parsed, overrides)
    profile = _checked(parsed, TrajectoryProfile, profile_rules(parsed.value))
    return LoadedProfile(profile, parsed.positions)


def _add_sections(parsed: Parsed, overrides: Sequence[Override]) -> None:
    """A section that the profile leaves out has its defaults; a flag may change one of them all the same."""
    for section in {one.path[0] for one in overrides if len(one.path) > 1}:
        if isinstance(parsed.value, dict) and isinstance(section, str) and section in _SECTIONS:
            parsed.value.setdefault(section, dict(_SECTIONS[section]))


def load_sessions(source: Source | str | os.PathLike[str]) -> list[Trajectory]:
    """The sessions of a file. UsageError (2) with every error of it, one a line."""
    source = source if isinstance(source, Source) else read_source(source, LARGEST_SESSION)
    found: list[Trajectory] = []
    problems: list[Problem] = []
    for parsed in _documents(source):
        try:
            found.append(_checked(parsed, Trajectory, session_rules(parsed.value)))
        except _Problems as error:
            problems += error.problems
    if problems:
        raise refuse(source.name, problems)
    return found


def tell(source: Source) -> str | None:
    """What the document's key `schema` says; None where it says nothing. UsageError (2) if it cannot be read."""
    value = next(_documents(source)).value
    found = value.get("schema") if isinstance(value, dict) else None
    return found if isinstance(found, str) else None


def is_profile(source: Source) -> bool:
    """Whether a document is a profile, by its schema. UsageError (2) where it is neither that nor a session."""
    told = tell(source)
    if told in (PROFILE_SCHEMA, SCHEMA):
        return told == PROFILE_SCHEMA
    got = "no schema" if told is None else f"schema {show_value(told)}"
    raise UsageError(f"{source.name}: got {got}, expected {PROFILE_SCHEMA} or {SCHEMA}")


class _Problems(UsageError):
    """The errors of one document, for the caller to gather."""

    def __init__(self, name: str, problems: Sequence[Problem]) -> None:
        error = refuse(name, problems)
        super().__init__(error.sentence, details=error.details)
        self.problems = problems


def _checked(parsed: Parsed, model: type[M], rules: Iterator[Broken]) -> M:
    checked, problems = check_with_rules(parsed, model, rules)
    if checked is None or problems:
        raise _Problems(parsed.positions.name, problems)
    return checked


def _documents(source: Source) -> Iterator[Parsed]:
    """The document, or those of JSON lines."""
    lines = _json_lines(source)
    if lines is None:
        yield parse(source)
        return
    session: Parsed | None = None
    for number, tree in lines:
        if session is None or "schema" in tree.value:
            if session is not None:
                yield session
            session = _first_line(source, number, tree)
        else:
            _add_step(session, number, tree)
    if session is not None:
        yield session


def _json_lines(source: Source) -> list[tuple[int, TreeBuilder]] | None:
    """Line numbers and values, where the text is JSON lines: more than one line, and each a JSON object."""
    head, _, rest = source.data.strip().partition(b"\n")
    if not (head.startswith(b"{") and head.rstrip().endswith(b"}") and rest):
        return None
    try:
        text = source.data.decode("utf-8-sig")
        if not isinstance(read_json(text.strip().split("\n", 1)[0]).value, dict):
            return None
    except (UnicodeDecodeError, Unreadable):
        return None  # one document, whose own reader says what is wrong
    found = []
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        found.append((number, _read_line(source.name, number, line)))
    return found


def _read_line(name: str, number: int, line: str) -> TreeBuilder:
    origin = f"{name}:{number}"
    try:
        tree = read_json(line)
    except Unreadable as error:
        flaw = error.flaw
        raise refuse(name, [Problem(origin, flaw.path, flaw.got, flaw.expected)]) from error
    if not isinstance(tree.value, dict):
        raise refuse(name, [Problem(origin, (), show_value(tree.value), "a JSON object on each line")])
    return tree


def _first_line(source: Source, number: int, tree: TreeBuilder) -> Parsed:
    _move(tree.place, number)
    if isinstance(tree.place.parts, dict) and "steps" not in tree.value:
        tree.value["steps"], tree.place.parts["steps"] = [], Place(number, [])
    positions = Positions(source.name, tree.place)
    return Parsed(tree.value, positions, _flaws(source.name, number, tree, ()))


def _add_step(session: Parsed, number: int, tree: TreeBuilder) -> None:
    _move(tree.place, number)
    steps = session.value.get("steps")
    parts = session.positions.place.parts
    below = parts["steps"].parts if isinstance(parts, dict) else None
    if isinstance(steps, list) and isinstance(below, list):
        session.problems += _flaws(session.positions.name, number, tree, ("steps", len(steps)))
        steps.append(tree.value)
        below.append(tree.place)


def _flaws(name: str, number: int, tree: TreeBuilder, under: Path) -> list[Problem]:
    return [Problem(f"{name}:{number}", (*under, *flaw.path), flaw.got, flaw.expected) for flaw in tree.flaws]


def _move(place: Place, number: int) -> None:
    """Every part of a line stands on that line."""
    place.line = number
    parts: Any = place.parts
    for part in parts.values() if isinstance(parts, dict) else parts or ():
        _move(part, number)
