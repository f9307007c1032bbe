"""The kinds that the viewer lists and watches: where they are served, how they are read, their columns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote

import msgspec

from perfq.viewer.objects import Meta, Node, NodeRecord, Pod, PodRecord, Record, decode_node, decode_pod

__all__ = ["KINDS", "NODES", "PODS", "Cells", "Column", "Kind", "PageMeta", "Scope", "Usage"]

#: What a row shows, one value a column: text, a number, or (AGE) seconds since the epoch.
Cells = tuple[str | int, ...]


@dataclass(frozen=True, slots=True)
class Usage:
    """CPU and memory of a node or Pod, from metrics.k8s.io, as shown."""

    cpu: str
    memory: str


@dataclass(frozen=True, slots=True)
class Scope:
    """One LIST+WATCH: a plural resource, and a namespace ("" for all, or for a cluster-scoped kind)."""

    kind: str
    namespace: str = ""

    def __str__(self) -> str:
        return f"{self.kind} in {self.namespace}" if self.namespace else self.kind


@dataclass(frozen=True, slots=True)
class Column:
    """A column: its title, and how far it may be shrunk where the terminal is narrow."""

    title: str
    least: int
    is_age: bool = False


class PageMeta(msgspec.Struct, gc=False):
    """`metadata` of a list."""

    resourceVersion: str = ""
    continue_: str = msgspec.field(name="continue", default="")


class _PodList(msgspec.Struct):
    metadata: PageMeta
    items: list[Pod] | None = None


class _NodeList(msgspec.Struct):
    metadata: PageMeta
    items: list[Node] | None = None


class _Object(msgspec.Struct):
    metadata: Meta


class Event(msgspec.Struct):
    """A watch event with its object undecoded."""

    type: str
    object: msgspec.Raw


_event = msgspec.json.Decoder(Event)
_meta = msgspec.json.Decoder(_Object)


def _pod_cells(record: Record, _usage: Mapping[str, Usage]) -> Cells:
    assert isinstance(record, PodRecord)
    return (
        record.namespace,
        record.name,
        record.ready,
        record.status,
        record.restarts,
        record.node,
        record.created,
    )


def _node_cells(record: Record, usage: Mapping[str, Usage]) -> Cells:
    assert isinstance(record, NodeRecord)
    used = usage.get(record.name)
    cpu, memory = (used.cpu, used.memory) if used else ("-", "-")
    return (record.name, record.status, record.roles, cpu, memory, record.created, record.version)


@dataclass(frozen=True)
class Kind:
    """A served kind."""

    name: str
    singular: str
    namespaced: bool
    columns: tuple[Column, ...]
    _list: msgspec.json.Decoder[Any] = field(repr=False)
    _object: msgspec.json.Decoder[Any] = field(repr=False)

    def path(self, namespace: str = "", name: str = "") -> str:
        """The path of the collection, or of one object."""
        where = f"/namespaces/{quote(namespace, safe='')}" if self.namespaced and namespace else ""
        return f"/api/v1{where}/{self.name}" + (f"/{quote(name, safe='')}" if name else "")

    def decode_page(self, body: bytes) -> tuple[list[Record], PageMeta]:
        """A page of a LIST. msgspec.DecodeError where it is not one."""
        page = self._list.decode(body)
        return [self._record(item) for item in page.items or ()], page.metadata

    def decode_object(self, raw: msgspec.Raw) -> tuple[Record, str]:
        """The object of a watch event, and its resourceVersion."""
        item = self._object.decode(raw)
        return self._record(item), item.metadata.resourceVersion

    def cells(self, record: Record, usage: Mapping[str, Usage]) -> Cells:
        """The row of a record."""
        return _pod_cells(record, usage) if self.name == "pods" else _node_cells(record, usage)

    def _record(self, item: Any) -> Record:
        return decode_pod(item) if self.name == "pods" else decode_node(item)

    @property
    def age_column(self) -> int:
        """Where AGE is."""
        return next(i for i, column in enumerate(self.columns) if column.is_age)


def decode_event(line: bytes) -> Event:
    """One line of a watch. msgspec.DecodeError where it is not one."""
    return _event.decode(line)


def decode_version(raw: msgspec.Raw) -> str:
    """The resourceVersion of a bookmark's object."""
    return _meta.decode(raw).metadata.resourceVersion


PODS = Kind(
    "pods",
    "Pod",
    True,
    (
        Column("NAMESPACE", 9),
        Column("NAME", 12),
        Column("READY", 5),
        Column("STATUS", 9),
        Column("RESTARTS", 8),
        Column("NODE", 8),
        Column("AGE", 6, is_age=True),
    ),
    msgspec.json.Decoder(_PodList),
    msgspec.json.Decoder(Pod),
)
NODES = Kind(
    "nodes",
    "Node",
    False,
    (
        Column("NAME", 12),
        Column("STATUS", 8),
        Column("ROLES", 6),
        Column("CPU", 6),
        Column("MEMORY", 7),
        Column("AGE", 6, is_age=True),
        Column("VERSION", 8),
    ),
    msgspec.json.Decoder(_NodeList),
    msgspec.json.Decoder(Node),
)
#: The kinds that can be shown, by plural name.
KINDS: dict[str, Kind] = {kind.name: kind for kind in (PODS, NODES)}
