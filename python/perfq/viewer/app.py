"""The application: panes over one store, fed by one watch manager a scope."""

from __future__ import annotations

import asyncio
import contextvars
import gc
import signal
import threading
from collections.abc import Callable, Sequence
from typing import ClassVar

from textual import events
from textual.app import App, ComposeResult
from textual.binding import BindingType

from perfq.probe import Probe
from perfq.viewer.allocations import AllocationReport
from perfq.viewer.detail import DescribeScreen, LogScreen, Subject
from perfq.viewer.digest_report import DigestReport
from perfq.viewer.flush import FrameDriver
from perfq.viewer.frames import Hooks
from perfq.viewer.inbox import Inbox, Problem
from perfq.viewer.keys import APP_KEYS, HELP
from perfq.viewer.kinds import KINDS, NODES, PODS, Kind, Scope
from perfq.viewer.metrics import NodeMetrics
from perfq.viewer.namespaces import known_namespaces
from perfq.viewer.ordering import Filter
from perfq.viewer.palette import Palette
from perfq.viewer.pane import TablePane
from perfq.viewer.parts import Parts, View
from perfq.viewer.prompt import Prompt, Question
from perfq.viewer.transport import Transport
from perfq.viewer.watch import Link, ScopeWatcher

__all__ = ["ViewerApp"]


class ViewerApp(App[None]):
    """Tables of a cluster that keep up with it."""

    CSS = "Screen { layers: base; } #nodes { height: 33%; max-height: 12; }"
    ENABLE_COMMAND_PALETTE = False
    BINDINGS: ClassVar[list[BindingType]] = APP_KEYS

    def __init__(self, parts: Parts, view: View, transport: Transport, probe: Probe) -> None:
        super().__init__(driver_class=FrameDriver)
        self.theme = "ansi-dark"
        self.parts = parts
        self.view = view
        self.transport = transport
        self.probe = probe
        self.palette = Palette.for_terminal(no_color=self.no_color)
        self.store = parts.store()
        self.inbox = Inbox(self._came)
        self.frames = parts.frames(
            self.store, self.inbox, probe, Hooks(self._problem, self._changed, self._when_flushed, self._populated)
        )
        self.allocations = AllocationReport(probe)
        self.metrics = parts.metrics(transport, lambda answer: self.on_app(lambda: self._metrics(answer)))
        self._watchers: dict[Scope, ScopeWatcher] = {}
        self._home: asyncio.AbstractEventLoop | None = None
        self._app_context: contextvars.Context | None = None
        self._pods_pane = self._pane(PODS, Scope("pods", view.namespace), "pods")
        self._nodes_pane = self._pane(NODES, Scope("nodes"), "nodes")
        self._prompt = Prompt(
            [piece for key, word in HELP for piece in ((key, self.palette.key), (f" {word}  ", self.palette.dim))],
            self.palette,
        )
        self._digests = DigestReport(self.store, probe, lambda: self._pods_pane.model.rows)
        self._interactive = False
        self._frozen = False

    def compose(self) -> ComposeResult:
        """Pods above, nodes below where asked for, help at the bottom."""
        yield self._pods_pane
        self._nodes_pane.display = self.view.split_nodes
        yield self._nodes_pane
        yield self._prompt

    def on_mount(self) -> None:
        """Starts the watches and frames."""
        self._home = asyncio.get_running_loop()
        self._app_context = contextvars.copy_context()
        for number in (signal.SIGTERM, signal.SIGHUP):
            self._home.add_signal_handler(number, self.exit)
        self.run_worker(self.frames.run(), exit_on_error=True)
        self.set_interval(1.0, self._tick)
        self._pods_pane.table.focus()
        self._open(self._pods_pane)
        if self.view.split_nodes:
            self._open(self._nodes_pane)
        where = " ".join(part for part in (self.view.context, self.view.server) if part)
        self._pods_pane.show_beside((f"  on {where}" if where else "", self.palette.dim))
        self.metrics.start()
        self.frames.wake()

    def on_unmount(self) -> None:
        """Ends the threads."""
        self.inbox.close()
        self.metrics.stop()
        for watcher in self._watchers.values():
            watcher.stop()

    def on_app(self, callback: Callable[[], None]) -> None:
        """Runs something on the app's thread; from any thread."""
        home = self._home
        if home is not None and not home.is_closed():
            home.call_soon_threadsafe(callback, context=self._app_context)

    def post_display_hook(self) -> None:
        """A frame was written: what it shows is reported once it is flushed."""
        self.frames.drawn()
        if not self._interactive and self._watchers and self._pods_pane.table.has_focus:
            self._interactive = True
            self._when_flushed(self.probe.interactive)

    async def action_quit(self) -> None:
        """Leaves."""
        self.exit()

    async def action_back(self) -> None:
        """Leaves a screen, else the search."""
        if len(self.screen_stack) > 1:
            await self.pop_screen()
            return
        pane = self._focused_pane
        if pane.model.filter.text:
            pane.rearrange(shown=Filter(pane.model.filter.namespace))

    async def on_event(self, event: events.Event) -> None:
        """Keys go to an open question first, before they are forwarded to any widget."""
        if self._prompt.asking and isinstance(event, events.Key | events.Paste) and not event.is_forwarded:
            if isinstance(event, events.Key):
                self._prompt.take_key(event)
            else:
                self._prompt.take_text(event.text)
            return
        await super().on_event(event)

    def action_search(self) -> None:
        """Asks for a text; rows without it are not shown."""
        if len(self.screen_stack) > 1:
            return
        pane = self._focused_pane

        def answered(text: str | None, _done: bool) -> None:
            if (text or "") != pane.model.filter.text:
                pane.rearrange(shown=Filter(pane.model.filter.namespace, text or ""))

        self._prompt.ask(Question("/", answered, pane.model.filter.text))

    def action_namespace(self) -> None:
        """Asks for a namespace."""
        if len(self.screen_stack) > 1:
            return

        def answered(text: str | None, done: bool) -> None:
            if done and text is not None:
                self._show_namespace(text.strip())

        self._prompt.ask(Question("namespace (empty: all): ", answered))
        held = self._pods_pane.model.rows if self._pods_pane.scope.namespace == "" else None
        transport, suggest = self.transport, self._prompt.suggest

        def fetch() -> None:
            known = known_namespaces(held, transport)
            self.on_app(lambda: suggest(known))

        threading.Thread(target=fetch, name="namespaces", daemon=True).start()

    def action_sort(self) -> None:
        """By the next column."""
        self._focused_pane.cycle_sort()

    def action_sort_by(self, column: int) -> None:
        """By this column."""
        self._focused_pane.sort_by(column)

    def action_reverse(self) -> None:
        """The other way round."""
        self._focused_pane.reverse()

    def action_toggle_nodes(self) -> None:
        """Opens or closes the second pane, and its watch with it."""
        if self._nodes_pane.display:
            self._close(self._nodes_pane)
            self._nodes_pane.display = False
            self._pods_pane.table.focus()
        else:
            self._nodes_pane.show_scope(self._nodes_pane.scope)
            self._nodes_pane.display = True
            self._open(self._nodes_pane)

    def action_describe(self) -> None:
        """The object under the cursor in full."""
        subject = self._subject()
        if subject is not None:
            self.push_screen(DescribeScreen(subject))

    def action_logs(self) -> None:
        """The log of the Pod under the cursor."""
        subject = self._subject()
        if subject is not None and subject.kind is PODS:
            self.push_screen(LogScreen(subject))

    @property
    def _focused_pane(self) -> TablePane:
        return self._nodes_pane if self._nodes_pane.table.has_focus else self._pods_pane

    def _subject(self) -> Subject | None:
        model = self._focused_pane.model
        if len(self.screen_stack) > 1 or model.cursor is None:
            return None
        return Subject(model.kind, model.cursor, self.transport, self.palette, self.on_app)

    def _pane(self, kind: Kind, scope: Scope, name: str) -> TablePane:
        return TablePane(scope, self.parts.table(self.parts.model(kind)), self.palette, id=name)

    def _open(self, pane: TablePane) -> None:
        scope = pane.scope
        self.store.open(scope)
        self.frames.panes.append(pane)
        link = Link(self.transport, self.inbox, self.probe)
        watcher = self._watchers[scope] = self.parts.watcher(KINDS[scope.kind], scope, link)
        watcher.start()

    def _close(self, pane: TablePane) -> None:
        watcher = self._watchers.pop(pane.scope, None)
        if watcher is not None:
            watcher.stop()
        self.frames.panes.remove(pane)
        self.frames.close(pane.scope)

    def _show_namespace(self, namespace: str) -> None:
        """All namespaces are watched: another is another view of them. Else it is another scope."""
        pane = self._pods_pane
        if pane.scope.namespace == "":
            pane.rearrange(shown=Filter(namespace, pane.model.filter.text))
        elif pane.scope.namespace != namespace:
            self._close(pane)
            pane.show_scope(Scope("pods", namespace))
            self._open(pane)

    def _came(self) -> None:
        self.on_app(self.frames.wake)

    def _problem(self, problem: Problem) -> None:
        for pane in (self._pods_pane, self._nodes_pane):
            if pane.scope == problem.scope:
                pane.show_problem(problem)

    def _changed(self, scopes: Sequence[Scope]) -> None:
        if not self._frozen and all(self.store.complete(pane.scope) for pane in self.frames.panes):
            self._frozen = True
            gc.collect()
            gc.freeze()
        if self._pods_pane.scope in scopes:
            self._digests.changed(self._pods_pane.scope)

    def _populated(self, scope: Scope) -> None:
        if scope.kind == "pods":
            self.allocations.begin()

    def _metrics(self, answer: NodeMetrics) -> None:
        plain = self.palette.plain
        if answer.problem is not None:
            self._nodes_pane.show_beside((f"  {answer.problem}", self.palette.waiting))
            return
        self._nodes_pane.show_beside((f"  cpu {answer.cores:.2f} cores  memory {answer.bytes / 2**30:.2f} GiB", plain))
        self._nodes_pane.model.usage = answer.usage
        if self._nodes_pane.display:
            self._nodes_pane.table.applied(
                self._nodes_pane.model.apply(dict(self.store.objects(self._nodes_pane.scope)))
            )

    def _tick(self) -> None:
        for pane in (self._pods_pane, self._nodes_pane):
            if pane.display and self.screen is pane.screen:
                pane.table.tick()

    def _when_flushed(self, callback: Callable[[], None]) -> None:
        driver = self._driver
        if isinstance(driver, FrameDriver):
            driver.ledger.when_flushed(callback)
        else:
            callback()
