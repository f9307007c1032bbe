"""The JSON Schema of a result is generated, shipped and current."""

from __future__ import annotations

import json

import jsonschema

from perfq.measure.result.schema import generate, shipped
from perfq.measure.result.whole import WholeResult


def test_the_shipped_schema_is_current() -> None:
    assert shipped() == generate(), "run: python -m perfq.measure.result.schema"


def test_the_schema_is_one() -> None:
    jsonschema.Draft202012Validator.check_schema(json.loads(shipped()))


def test_every_field_has_to_be_present_and_none_may_be_added() -> None:
    schema = json.loads(shipped())
    for name, definition in [("Result", schema), *schema["$defs"].items()]:
        if definition.get("type") == "object":
            assert set(definition.get("required", [])) == set(definition.get("properties", {})), name
            assert definition["additionalProperties"] is False, name
    assert set(schema["required"]) == set(WholeResult.__struct_encode_fields__)
