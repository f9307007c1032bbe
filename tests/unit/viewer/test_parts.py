"""A part is replaced by a subclass: that is how a viewer with one bug is made, without a switch in the product."""

from __future__ import annotations

import asyncio

from tests.unit.viewer.pilot import screen, thirty_pods, until

from perfq.probe import Probe
from perfq.viewer.app import ViewerApp
from perfq.viewer.kinds import Kind
from perfq.viewer.metrics import MetricsPoll, NodeMetrics
from perfq.viewer.parts import Parts, View
from perfq.viewer.row_table import RowTable
from perfq.viewer.store import Store
from perfq.viewer.table_model import TableModel
from perfq.viewer.watch import ScopeWatcher


class Watcher(ScopeWatcher):
    """Another watch manager."""


class Objects(Store):
    """Another store."""


class Table(RowTable):
    """Another table."""


class Poll(MetricsPoll):
    """Never asks the server."""

    def ask(self) -> NodeMetrics:
        return NodeMetrics({}, problem="metrics from elsewhere")


def shorter(kind: Kind) -> TableModel:
    """Another model."""
    model = TableModel(kind)
    model.widths[1] = 40
    return model


def test_the_app_is_made_of_the_parts_that_it_is_given() -> None:
    parts = Parts(watcher=Watcher, store=Objects, table=Table, model=shorter, metrics=Poll)
    app = ViewerApp(parts, View(split_nodes=True), thirty_pods(), Probe(None))

    async def go() -> None:
        async with app.run_test(size=(120, 40)) as pilot:
            await until(pilot, lambda: "Pods 30" in screen(app) and "metrics from elsewhere" in screen(app))

    asyncio.run(go())
    assert {type(watcher) for watcher in app._watchers.values()} == {Watcher}
    assert type(app.store) is Objects
    assert type(app._pods_pane.table) is Table
    assert app._pods_pane.model.widths[1] == 40
