"""Tables of Markdown, and those of a document's fields, from its model."""

from __future__ import annotations

import importlib
import json
from collections.abc import Mapping
from typing import Any


def row(*cells: object) -> str:
    """A line of a Markdown table."""
    return "| " + " | ".join(str(cell).replace("|", "\\|").replace("\n", " ") for cell in cells) + " |"


def rows(header: tuple[str, ...], lines: list[str]) -> str:
    """A Markdown table."""
    return "\n".join([row(*header), "|" + "---|" * len(header), *lines])


def fields(schema_name: str) -> str:
    """Tables of a document's fields: the document itself, then its parts."""
    from perfq.cli.schema import SCHEMAS
    from perfq.profile.expected import Expectations

    module, attribute = SCHEMAS[schema_name][0].split(":")
    model = getattr(importlib.import_module(module), attribute)
    said = Expectations(model)
    schema = model.model_json_schema(by_alias=True)
    parts = [_table(schema, said)]
    for name, part in schema.get("$defs", {}).items():
        if "properties" in part:
            parts.append(f"**{name}**: {_first_line(part)}\n\n{_table(part, said)}")
    return "\n\n".join(parts)


def _table(schema: Mapping[str, Any], said: Any) -> str:
    required = schema.get("required", ())
    lines = []
    for key, field in schema["properties"].items():
        default = "required" if key in required else f"`{json.dumps(field.get('default'))}`"
        if key not in required and "default" not in field:
            default = "`[]`" if field.get("type") == "array" else "`{}`"
        lines.append(row(f"`{key}`", said.describe(field), default, field.get("description", "")))
    return rows(("key", "value", "default", "meaning"), lines)


def _first_line(schema: Mapping[str, Any]) -> str:
    return str(schema.get("description", "")).split("\n", 1)[0]
