"""The base of every document that a run writes: closed, immutable, typed as it is read.

msgspec's structs: a class costs microseconds where a model library takes milliseconds to build its validator, and
each start of perfq has some sixty of them. What the program itself puts into a field is mypy's to check.
"""

from __future__ import annotations

from typing import Any, Self, dataclass_transform

import msgspec


class _Closed(msgspec.StructMeta):
    """What msgspec would have each class say for itself."""

    def __new__(mcls, name: str, bases: tuple[type, ...], namespace: dict[str, Any], **_: bool) -> _Closed:
        return super().__new__(mcls, name, bases, namespace, frozen=True, kw_only=True, forbid_unknown_fields=True)


@dataclass_transform(frozen_default=True, kw_only_default=True, field_specifiers=(msgspec.field,))
class Document(msgspec.Struct, metaclass=_Closed, frozen=True):
    """Unknown keys and loose types are errors; every field is in the JSON, null where it is not known."""

    def to_json(self) -> str:
        """The document as indented JSON with a line end, as it stands in the run directory."""
        return msgspec.json.format(msgspec.json.encode(self), indent=1).decode() + "\n"

    @classmethod
    def from_json(cls, text: str | bytes) -> Self:
        """Reads what `to_json` wrote. msgspec.ValidationError, with the place, where it does not fit; its base
        DecodeError where it is no JSON."""
        return msgspec.json.decode(text, type=cls)

    @classmethod
    def from_plain(cls, values: Any) -> Self:
        """The same from plain JSON values."""
        return msgspec.convert(values, cls)

    def plain(self) -> dict[str, Any]:
        """As plain JSON values."""
        values: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(self))
        return values

    def fields(self) -> dict[str, Any]:
        """Its fields by name, as they are."""
        return msgspec.structs.asdict(self)

    def replace(self, **changes: Any) -> Self:
        """A copy with some fields changed."""
        return msgspec.structs.replace(self, **changes)
