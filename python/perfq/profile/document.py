"""Loading what users write: JSON or YAML text → a checked model, with every error named at once.

    profile.yaml:4: bursts.0.start_second: got true, expected an integer from 0 to 86399

One line each: file, line, key (dotted, list items by number), value seen, what is expected. This
serves every document: profiles, budgets, client definitions. What a model means is not known here.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Generic, NamedTuple, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from perfq.errors import UsageError
from perfq.profile.expected import Expectations
from perfq.profile.json_text import read_json
from perfq.profile.shown import nearest, show_path, show_text, show_value
from perfq.profile.source import MAX_BYTES, Source, read_source
from perfq.profile.tree import Flaw, Path, Place, TreeBuilder, Unreadable

M = TypeVar("M", bound=BaseModel)
#: A rule between fields that does not hold: (where, value seen, what is expected).
Broken = tuple[Path, str, str]
_MAX_ERRORS: Final = 50


class Strict(BaseModel):
    """What every document's model is: unknown keys refused, no conversions, immutable."""

    # Built when it is first used: most models stand in others alone.
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, defer_build=True)


@dataclass(frozen=True, slots=True)
class Problem:
    """One error of a document, ready to be said."""

    origin: str
    path: Path
    got: str
    expected: str

    def __str__(self) -> str:
        key = f"{show_path(self.path)}: " if self.path else ""
        return f"{self.origin}: {key}got {self.got}, expected {self.expected}"


@dataclass(slots=True)
class Positions:
    """Where each part of a document was written: `FILE:LINE`, or the flag that set it."""

    name: str
    place: Place
    #: Parts that a flag replaced, by path: `--set`.
    overrides: dict[Path, str] = field(default_factory=dict)

    def origin(self, path: Path) -> str:
        """The flag that set this part or one above it, else the file and line of the deepest part that exists."""
        for length in range(len(path), 0, -1):
            if path[:length] in self.overrides:
                return self.overrides[path[:length]]
        return f"{self.name}:{self.place.find(path).line}"

    def problem(self, path: Path, got: str, expected: str) -> Problem:
        """An error at that part."""
        return Problem(self.origin(path), path, got, expected)


class Loaded(NamedTuple, Generic[M]):
    """A checked document and where its parts stand."""

    model: M
    positions: Positions


def load(source: Source | str | os.PathLike[str], model: type[M], *, limit: int = MAX_BYTES) -> Loaded[M]:
    """Reads and checks a document. UsageError (2) with every error of it, one a line."""
    parsed = parse(read_source(source, limit) if isinstance(source, (str, os.PathLike)) else source)
    checked, problems = check(parsed, model)
    if checked is None or problems:
        raise refuse(parsed.positions.name, problems)
    return Loaded(checked, parsed.positions)


@dataclass(slots=True)
class Parsed:
    """A document's value before it is checked, and the flaws that its text already showed."""

    value: Any
    positions: Positions
    problems: list[Problem]


def parse(source: Source) -> Parsed:
    """Text → value. UsageError where it cannot be read as JSON or YAML."""
    try:
        tree = _read(source)
    except Unreadable as error:
        flaw = error.flaw
        origin = f"{source.name}:{flaw.line}"
        raise refuse(source.name, [Problem(origin, flaw.path, flaw.got, flaw.expected)]) from error
    positions = Positions(source.name, tree.place)
    return Parsed(tree.value, positions, [_problem(source.name, flaw) for flaw in tree.flaws])


def check(parsed: Parsed, model: type[M]) -> tuple[M | None, list[Problem]]:
    """The model, or every error in the order of the text. Parts that the text got wrong are not judged again."""
    flawed = [problem.path for problem in parsed.problems]
    checked, found = None, list(parsed.problems)
    try:
        checked = model.model_validate(parsed.value)
    except ValidationError as error:
        said = Expectations(model, parsed.value)
        for problem in _explain(error, parsed, said):
            if not any(problem.path[: len(path)] == path for path in flawed):
                found.append(problem)
    return checked, in_order(parsed, found)


def check_with_rules(parsed: Parsed, model: type[M], rules: Iterable[Broken]) -> tuple[M | None, list[Problem]]:
    """As `check`, with the broken rules between fields: those whose own fields the text and the model got right."""
    flawed = [problem.path for problem in parsed.problems]
    checked, problems = check(parsed, model)
    broken_at = {problem.path for problem in problems}
    problems += [
        parsed.positions.problem(*rule)
        for rule in rules
        if rule[0] not in broken_at and not any(rule[0][: len(path)] == path for path in flawed)
    ]
    return checked, in_order(parsed, problems)


def drop_unknown(parsed: Parsed, model: type[BaseModel]) -> list[Problem]:
    """Takes keys that the model does not know out of the value, and says which those were."""
    dropped: list[Problem] = []
    while True:
        try:
            model.model_validate(parsed.value)
        except ValidationError as error:
            said = Expectations(model, parsed.value)
            details = [detail for detail in error.errors(include_url=False) if detail["type"] == "extra_forbidden"]
        else:
            details = []
        if not details:
            return in_order(parsed, dropped)
        for detail in details:
            path, _ = said.real_path(detail["loc"])
            dropped.append(_unknown_key(path, parsed, said))
            del _at(parsed.value, path[:-1])[path[-1]]


def in_order(parsed: Parsed, problems: Iterable[Problem]) -> list[Problem]:
    """Sorted by where they stand; each once."""
    place = parsed.positions.place
    return sorted(dict.fromkeys(problems), key=lambda problem: place.find(problem.path).line)


def refuse(name: str, problems: Sequence[Problem]) -> UsageError:
    """The error that carries them all."""
    count = len(problems)
    lines = [str(problem) for problem in problems[:_MAX_ERRORS]]
    if count > _MAX_ERRORS:
        lines.append(f"… and {count - _MAX_ERRORS} more")
    return UsageError(f"{show_text(name)} has {count} error{'s' if count != 1 else ''}", details=lines)


def _read(source: Source) -> TreeBuilder:
    try:
        text = source.data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = source.data.count(b"\n", 0, error.start) + 1
        got = f"a byte that is not UTF-8 (0x{source.data[error.start]:02x})"
        raise Unreadable(Flaw(line, (), got, "a JSON or YAML text")) from error
    if not text.strip():
        raise Unreadable(Flaw(1, (), "nothing", "a JSON or YAML document"))
    looks_like_json = text.lstrip()[0] in "{["
    if not looks_like_json and not source.name.endswith(".json"):
        return _yaml(text)
    try:
        return read_json(text)
    except Unreadable:
        if source.name.endswith(".json"):
            raise
        # YAML's flow style looks like JSON; where it is neither, JSON's complaint is the clearer one.
        try:
            return _yaml(text)
        except Unreadable:
            pass
        raise


def _yaml(text: str) -> TreeBuilder:
    # PyYAML takes its time to load, and much is JSON.
    from perfq.profile.yaml_text import read_yaml

    return read_yaml(text)


def _problem(name: str, flaw: Flaw) -> Problem:
    return Problem(f"{name}:{flaw.line}", flaw.path, flaw.got, flaw.expected)


def _explain(error: ValidationError, parsed: Parsed, said: Expectations) -> Iterable[Problem]:
    for detail in error.errors(include_url=False):
        path, rest = said.real_path(detail["loc"])
        kind = detail["type"]
        if kind in ("union_tag_invalid", "union_tag_not_found"):
            yield _unknown_form(path, parsed, said)
        elif kind == "missing":
            yield parsed.positions.problem((*path, *rest), "nothing", said.at((*path, *rest)) or "a value")
        elif kind == "extra_forbidden":
            yield _unknown_key(path, parsed, said)
        else:
            got = show_value(_at(parsed.value, path))
            yield parsed.positions.problem(path, got, _expected(detail, said.at(path)))


def _unknown_key(path: Path, parsed: Parsed, said: Expectations) -> Problem:
    keys = said.keys(path[:-1])
    expected = f"one of {', '.join(keys)}" if keys else "no such key"
    hint = nearest(str(path[-1]), keys)
    return parsed.positions.problem(path, "an unknown key", f"{expected}{hint}")


def _expected(detail: Any, described: str | None) -> str:
    cause = detail.get("ctx", {}).get("error")
    if detail["type"] == "value_error" and cause is not None:
        return str(cause)
    if detail["type"] == "string_unicode":
        return "text without lone surrogates"
    message: str = detail["msg"]
    return described or message.removeprefix("Input should be ").rstrip(".")


def _unknown_form(path: Path, parsed: Parsed, said: Expectations) -> Problem:
    """One of several forms is wanted, and the key that says which is absent or says something else."""
    key, forms = said.forms(path)
    mapping = _at(parsed.value, path)
    got, hint = "nothing", ""
    if key in mapping:
        got, hint = show_value(mapping[key]), nearest(str(mapping[key]), forms)
    return parsed.positions.problem((*path, key), got, f"one of {', '.join(forms)}{hint}")


def _at(value: Any, path: Path) -> Any:
    for step in path:
        value = value[step]
    return value
