"""What the viewer is composed of. Tests replace a part by a subclass; the program has no switch for it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from perfq.viewer.frames import Frames
from perfq.viewer.kinds import Kind
from perfq.viewer.metrics import MetricsPoll
from perfq.viewer.row_table import RowTable
from perfq.viewer.store import Store
from perfq.viewer.table_model import TableModel
from perfq.viewer.watch import ScopeWatcher

if TYPE_CHECKING:
    from perfq.viewer.app import ViewerApp

__all__ = ["Parts", "View"]


def _app() -> type[ViewerApp]:
    from perfq.viewer.app import ViewerApp

    return ViewerApp


@dataclass(frozen=True)
class Parts:
    """The classes that the viewer is made of."""

    watcher: type[ScopeWatcher] = ScopeWatcher
    store: type[Store] = Store
    frames: type[Frames] = Frames
    model: Callable[[Kind], TableModel] = TableModel
    table: type[RowTable] = RowTable
    metrics: type[MetricsPoll] = MetricsPoll
    app: Callable[[], type[ViewerApp]] = field(default=_app)


@dataclass(frozen=True)
class View:
    """What is shown at the start, and the words for the title."""

    #: "" for all namespaces.
    namespace: str = ""
    split_nodes: bool = False
    context: str = ""
    server: str = ""
