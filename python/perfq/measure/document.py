"""The base of every document that a run writes: strict, closed, immutable."""

from __future__ import annotations

from typing import Any, Self

from pydantic import BaseModel, ConfigDict


class Document(BaseModel):
    """Unknown keys and loose types are errors; every field is in the JSON, null where it is not known."""

    model_config = ConfigDict(
        extra="forbid",
        # Most models stand in others alone, and are never validated by themselves.
        defer_build=True,
        strict=True,
        frozen=True,
        allow_inf_nan=False,
        populate_by_name=True,
        serialize_by_alias=True,
        json_schema_serialization_defaults_required=True,
    )

    def to_json(self) -> str:
        """The document as indented JSON with a line end, as it stands in the run directory."""
        return self.model_dump_json(indent=1, by_alias=True) + "\n"

    @classmethod
    def from_json(cls, text: str | bytes) -> Self:
        """Reads what `to_json` wrote; pydantic's ValidationError where it does not fit."""
        return cls.model_validate_json(text)

    def plain(self) -> dict[str, Any]:
        """As plain JSON values."""
        return self.model_dump(mode="json", by_alias=True)
