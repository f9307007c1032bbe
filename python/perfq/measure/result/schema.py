"""The JSON Schema of result.json: generated from the model, shipped as a file.

`python -m perfq.measure.result.schema` writes the file again.
"""

from __future__ import annotations

import json
from importlib.resources import files
from pathlib import Path
from typing import Any

import msgspec

from perfq.measure.result import SCHEMA
from perfq.measure.result.whole import WholeResult

FILE = "result-v1.json"


def generate() -> str:
    """The schema as it must stand in the package."""
    (_,), definitions = msgspec.json.schema_components([WholeResult])
    for definition in definitions.values():
        if definition.get("type") == "object":
            # Every field is always written; msgspec has a field with a default for one that may be left out.
            definition["required"] = list(definition["properties"])
    whole = definitions.pop(WholeResult.__name__)
    schema: dict[str, Any] = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": f"https://perfq.dev/schema/{FILE}",
        **whole,
        "$defs": definitions,
        "title": SCHEMA,
    }
    return json.dumps(schema, indent=1, sort_keys=True) + "\n"


def shipped() -> str:
    """The schema that the package ships."""
    return files("perfq.measure").joinpath("schema").joinpath(FILE).read_text(encoding="utf-8")


if __name__ == "__main__":
    target = Path(__file__).parent.parent / "schema" / FILE
    target.parent.mkdir(exist_ok=True)
    target.write_text(generate(), encoding="utf-8")
