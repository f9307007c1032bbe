"""What a field expects, in words, from the JSON Schema of its model."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from pydantic import BaseModel, TypeAdapter

from perfq.profile.tree import Path, has

Schema = Mapping[str, Any]
_MANY: Final = 12


class Expectations:
    """Answers for one model and the document's value; made once, and only when there is something to explain.

    Where the model has a choice of forms that one of their keys decides (pydantic's discriminator), the value says
    which of them is meant.
    """

    def __init__(self, model: type[BaseModel], value: Any = None) -> None:
        self._root: Schema = TypeAdapter(model).json_schema(by_alias=True)
        self._value = value

    def at(self, path: Path) -> str | None:
        """What stands at `path`, or None where the model has no such place."""
        found, value = self._find(path)
        return None if found is None else self.describe(found, value)

    def keys(self, path: Path) -> list[str]:
        """The keys of the mapping at `path`, in the model's order."""
        found, value = self._find(path)
        if found is None:
            return []
        return [key for branch in self._branches(found, value) for key in branch.get("properties", {})]

    def forms(self, path: Path) -> tuple[str, list[str]]:
        """The key that decides between the forms of the mapping at `path`, and what it may say."""
        found, _ = self._find(path)
        union = next(self._unions(found or {}), None)
        if union is None:
            return "", []
        return str(union["discriminator"]["propertyName"]), list(union["discriminator"]["mapping"])

    def real_path(self, location: Iterable[str | int]) -> tuple[Path, Path]:
        """The part of an error's location that exists in the document, and a missing key behind it.

        pydantic puts the names of union branches between the steps; they are no part of the document.
        """
        path: list[str | int] = []
        rest: list[str | int] = []
        value, here = self._value, self._root
        for step in location:
            form = self._form(here, value, step)
            if form is not None:
                here = form
            elif has(value, step):
                here = self._step(here, value, step) or {}
                value, rest = value[step], []
                path.append(step)
            else:
                rest = [step]
        return tuple(path), tuple(rest)

    def _form(self, schema: Schema, value: Any, step: str | int) -> Schema | None:
        """The form of a tagged choice that pydantic names by its tag, where `step` is one."""
        for union in self._unions(schema):
            tags = union["discriminator"]["mapping"]
            if step in tags and isinstance(value, dict) and value.get(union["discriminator"]["propertyName"]) == step:
                return {"$ref": tags[step]}
        return None

    def _unions(self, schema: Schema) -> Iterator[Schema]:
        if "$ref" in schema:
            yield from self._unions(self._referred(schema))
        elif "discriminator" in schema:
            yield schema
        else:
            for branch in schema.get("anyOf", ()):
                yield from self._unions(branch)

    def _find(self, path: Path) -> tuple[Schema | None, Any]:
        here: Schema | None = self._root
        value = self._value
        for step in path:
            if here is None:
                break
            here = self._step(here, value, step)
            value = value[step] if has(value, step) else None
        return here, value

    def _step(self, schema: Schema, value: Any, step: str | int) -> Schema | None:
        below = (self._below(branch, step) for branch in self._branches(schema, value))
        return next((found for found in below if found is not None), None)

    def _below(self, schema: Schema, step: str | int) -> Schema | None:
        below = schema.get("items") if isinstance(step, int) else schema.get("properties", {}).get(step)
        if below is None and isinstance(step, str):
            below = schema.get("additionalProperties")
        return below if isinstance(below, dict) else None

    def _referred(self, schema: Schema) -> Schema:
        found: Schema = self._root["$defs"][schema["$ref"].rsplit("/", 1)[-1]]
        return found

    def _branches(self, schema: Schema, value: Any = None) -> list[Schema]:
        if "$ref" in schema:
            return self._branches(self._referred(schema), value)
        if "discriminator" in schema and isinstance(value, dict):
            tag = value.get(schema["discriminator"]["propertyName"])
            if isinstance(tag, str) and tag in schema["discriminator"]["mapping"]:
                return self._branches({"$ref": schema["discriminator"]["mapping"][tag]}, value)
        for union in ("anyOf", "oneOf", "allOf"):
            if union in schema:
                return [deep for branch in schema[union] for deep in self._branches(branch, value)]
        return [schema]

    def describe(self, schema: Schema, value: Any = None) -> str:
        """A part of the schema, in words."""
        said = dict.fromkeys(self._describe_one(branch) for branch in self._branches(schema, value))
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
