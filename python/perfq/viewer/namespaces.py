"""Which namespaces there are to choose from."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from perfq.viewer.objects import Key
from perfq.viewer.transport import Rejected, Transport, Unreachable

__all__ = ["known_namespaces"]


class _Meta(msgspec.Struct):
    name: str


class _Item(msgspec.Struct):
    metadata: _Meta


class _List(msgspec.Struct):
    items: list[_Item] = []


def known_namespaces(rows: Mapping[Key, object] | None, transport: Transport) -> list[str]:
    """Those of the rows where all namespaces are watched; else (None) those that the server names."""
    if rows is not None:
        return sorted({namespace for namespace, _ in list(rows)})
    try:
        found = msgspec.json.decode(transport.get("/api/v1/namespaces", {"limit": "500"}), type=_List)
    except (Rejected, Unreachable, msgspec.MsgspecError):
        return []
    return sorted(item.metadata.name for item in found.items)
