"""What a field expects, in words, from the JSON Schema of its model."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from pydantic import BaseModel, TypeAdapter

from perfq.profile.tree import Path

Schema = Mapping[str, Any]
_MANY: Final = 12


class Expectations:
    """Answers for one model; the schema is made once, and only when there is something to explain."""

    def __init__(self, model: type[BaseModel]) -> None:
        self._root: Schema = TypeAdapter(model).json_schema(by_alias=True)

    def at(self, path: Path) -> str | None:
        """What stands at `path`, or None where the model has no such place."""
        found = self._find(path)
        return None if found is None else self.describe(found)

    def keys(self, path: Path) -> list[str]:
        """The keys of the mapping at `path`, in the model's order."""
        found = self._find(path)
        if found is None:
            return []
        return [key for branch in self._branches(found) for key in branch.get("properties", {})]

    def _find(self, path: Path) -> Schema | None:
        here: Schema | None = self._root
        for step in path:
            if here is None:
                return None
            here = next(
                (below for branch in self._branches(here) if (below := self._below(branch, step)) is not None), None
            )
        return here

    def _below(self, schema: Schema, step: str | int) -> Schema | None:
        below = schema.get("items") if isinstance(step, int) else schema.get("properties", {}).get(step)
        if below is None and isinstance(step, str):
            below = schema.get("additionalProperties")
        return below if isinstance(below, dict) else None

    def _branches(self, schema: Schema) -> list[Schema]:
        reference = schema.get("$ref")
        if reference is not None:
            return self._branches(self._root["$defs"][reference.rsplit("/", 1)[-1]])
        for union in ("anyOf", "oneOf", "allOf"):
            if union in schema:
                return [deep for branch in schema[union] for deep in self._branches(branch)]
        return [schema]

    def describe(self, schema: Schema) -> str:
        """A part of the schema, in words."""
        said = dict.fromkeys(self._describe_one(branch) for branch in self._branches(schema))
        return " or ".join(said)

    def _describe_one(self, schema: Schema) -> str:
        if "const" in schema:
            return str(schema["const"])
        if "enum" in schema:
            return f"one of {', '.join(str(value) for value in schema['enum'])}"
        kind = schema.get("type")
        if kind == "integer":
            return f"an integer{_range(schema)}"
        if kind == "number":
            return f"a number{_range(schema)}"
        if kind == "string":
            return f"text{_length(schema)}"
        if kind == "array":
            return self._describe_list(schema)
        if kind == "object":
            keys = list(schema.get("properties", ()))
            return f"a mapping with the keys {', '.join(keys)}" if keys else "a mapping"
        return {"boolean": "true or false", "null": "null"}.get(str(kind), "another value")

    def _describe_list(self, schema: Schema) -> str:
        least = f" of at least {schema['minItems']}" if schema.get("minItems") else ""
        items = self._branches(schema.get("items", {}))
        keys = [key for branch in items for key in branch.get("properties", ())]
        if keys and len(keys) <= _MANY:
            return f"a list{least} of {{{', '.join(keys)}}}"
        return f"a list{least}"


def _range(schema: Schema) -> str:
    low, high = schema.get("minimum"), schema.get("maximum")
    if low is None and "exclusiveMinimum" in schema:
        low = schema["exclusiveMinimum"] + 1 if schema.get("type") == "integer" else None
        if low is None:
            return f" above {schema['exclusiveMinimum']}" + (f", at most {high}" if high is not None else "")
    if low is not None and high is not None:
        return f" from {low} to {high}"
    if low is not None:
        return f" of at least {low}"
    return f" of at most {high}" if high is not None else ""


def _length(schema: Schema) -> str:
    low, high = schema.get("minLength"), schema.get("maxLength")
    if low is not None and high is not None:
        return f" of {low} to {high} characters"
    if low is not None:
        return f" of at least {low} character{'s' if low > 1 else ''}"
    if high is not None:
        return f" of at most {high} characters"
    return f" that matches {schema['pattern']}" if "pattern" in schema else ""
