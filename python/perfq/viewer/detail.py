"""Screens over the table: an object in full, and a Pod's log."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import msgspec
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.screen import Screen

from perfq.viewer.describe import describe
from perfq.viewer.kinds import Kind
from perfq.viewer.lines import LineBar, Piece, TextLines, printable
from perfq.viewer.objects import Key
from perfq.viewer.palette import Palette
from perfq.viewer.transport import Rejected, Stream, Transport, Unreachable

__all__ = ["DescribeScreen", "LogScreen", "Subject", "TextScreen"]

_HELP = "↑↓ PgUp PgDn g G scroll   esc back   q quit"
#: Lines of the past that a log starts with.
TAIL_LINES = 500


@dataclass(frozen=True)
class Subject:
    """What a screen is about, and what it needs."""

    kind: Kind
    key: Key
    transport: Transport
    palette: Palette
    #: Runs something on the app's thread.
    on_app: Callable[[Callable[[], None]], None]

    @property
    def path(self) -> str:
        """Its path on the API server."""
        return self.kind.path(*self.key)

    def __str__(self) -> str:
        return "/".join(part for part in self.key if part)


class TextScreen(Screen[None]):
    """A title, a text that comes from a thread, a help line."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "app.back", "back", show=False)]
    WORD: ClassVar[str] = ""
    FOLLOW: ClassVar[bool] = False

    def __init__(self, subject: Subject) -> None:
        super().__init__()
        self.subject = subject
        self.text = TextLines(follow=self.FOLLOW)
        self._head = LineBar([self._heading("…")])
        self._left = threading.Event()

    def compose(self) -> ComposeResult:
        """Title, text, help."""
        yield self._head
        yield self.text
        yield LineBar([[(_HELP, self.subject.palette.dim)]])

    def on_mount(self) -> None:
        """Begins to fetch."""
        self.text.focus()
        threading.Thread(target=self._run, name=self.WORD, daemon=True).start()

    def on_unmount(self) -> None:
        """Ends the fetching."""
        self._left.set()

    def fetch(self) -> None:
        """Gets the text; in the thread. Rejected or Unreachable."""
        raise NotImplementedError

    def show(self, lines: list[str], note: str = "", problem: str = "") -> None:
        """From the thread: more lines, what stands beside the title, and what went wrong."""

        def there() -> None:
            if not self._left.is_set():
                self.text.append(printable(line) for line in lines)
                palette = self.subject.palette
                self._head.show(self._heading(note), *([[(problem, palette.problem)]] if problem else []))

        self.subject.on_app(there)

    def _run(self) -> None:
        try:
            self.fetch()
        except (Rejected, Unreachable) as error:
            if not self._left.is_set():
                self.show([], problem=str(error))
        except msgspec.MsgspecError as error:
            self.show([], problem=f"the answer could not be read: {error}")

    def _heading(self, note: str) -> list[Piece]:
        palette = self.subject.palette
        return [(f"{self.WORD} ", palette.title), (f"{self.subject}  ", palette.key), (note, palette.plain)]


class DescribeScreen(TextScreen):
    """One object in full, and its events."""

    WORD = "Describe"

    def fetch(self) -> None:
        """The object, then its events."""
        subject = self.subject
        found = msgspec.json.decode(subject.transport.get(subject.path))
        namespace, name = subject.key
        where = f"/api/v1/namespaces/{namespace}/events" if namespace else "/api/v1/events"
        selector = f"involvedObject.kind={subject.kind.singular},involvedObject.name={name}"
        try:
            body = subject.transport.get(where, {"fieldSelector": selector, "limit": "100"})
            events = msgspec.json.decode(body).get("items") or []
        except (Rejected, Unreachable) as error:
            self.show(describe(found, []), problem=f"events: {error}")
            return
        self.show(describe(found, events))


class LogScreen(TextScreen):
    """The log of a Pod's first container, followed."""

    WORD = "Log"
    FOLLOW = True
    _stream: Stream | None = None

    def fetch(self) -> None:
        """The last lines, then what comes."""
        subject = self.subject
        query = {"follow": "true", "tailLines": str(TAIL_LINES)}
        try:
            stream = subject.transport.stream(f"{subject.path}/log", query)
        except Rejected as error:
            # Several containers: the server's message ends with their names, the first is taken.
            names = error.message.partition("[")[2].partition("]")[0].split()
            if error.status != 400 or not names:
                raise
            stream = subject.transport.stream(f"{subject.path}/log", {**query, "container": names[0]})
        self._stream = stream
        self.show([], "following")
        rest = b""
        for chunk in stream.chunks():
            if self._left.is_set():
                stream.close()
                return
            *lines, rest = (rest + chunk).split(b"\n")
            if lines:
                self.show([line.decode(errors="replace") for line in lines], "following")
        self.show([rest.decode(errors="replace")] if rest else [], "ended")

    def on_unmount(self) -> None:
        """Ends the stream."""
        super().on_unmount()
        if self._stream is not None:
            self._stream.close()
