"""A session whose client is made by hand; its server, where a test asks for one, is the real one."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Literal

from tests.unit.drive.waiting import Kept

from perfq._core import Plan, TerminalView
from perfq.drive.definition import view_of
from perfq.profile.client_files import load_client_named
from perfq.profile.override import parse_set
from perfq.profile.workload import resolve_profile
from perfq.replay.options import ReplayOptions

HOME, NEXT = ("bench-0000", "pod-000000"), ("bench-0001", "pod-000001")


class Client:
    """A terminal with a client that ends when it is told to, and takes so long for a key."""

    def __init__(self, key_s: float = 0.0) -> None:
        self.exited: dict[str, Any] | None = None
        self.milestones: dict[str, int | None] = {"ready": None, "populated": None}
        self.shown: list[dict[str, Any]] = []
        self.trouble: Exception | None = None
        self._takes = threading.Event()
        self._key_s = key_s

    def progress(self) -> dict[str, Any]:
        return {"exited": self.exited, "milestones": self.milestones, "unanswered": []}

    def rows(self, view: TerminalView) -> list[dict[str, Any]]:
        return self.shown

    def key(self, name: str) -> bytes:
        return name.encode()

    def press(
        self, key: bytes, direction: Literal["down", "up"], view: TerminalView, timeout_s: float
    ) -> Mapping[str, Any]:
        if self.trouble is not None:
            raise self.trouble
        sent = time.monotonic_ns()
        self._takes.wait(self._key_s)
        before, after = (HOME, NEXT) if direction == "down" else (NEXT, HOME)
        return {"sent": sent, "seen": time.monotonic_ns(), "outcome": "ok", "before": before, "after": after}

    def screen(self) -> dict[str, Any]:
        return {"lines": ["its last words"], "other": []}


class Session:
    """What the phases of a replay use of a session."""

    rows_wanted = 25

    def __init__(self, client: str, terminal: Client, server: Any, **options: Any) -> None:
        profile = resolve_profile("smoke-1k", assignments=[parse_set(one) for one in options.pop("assignments", ())])
        definition = load_client_named(client)
        self.options = ReplayOptions(
            plan=Plan(profile.to_json()),
            profile=profile.model_dump(),
            client=definition,
            argv=(),
            out=Path("nowhere"),
            run_id="r",
            **options,
        )
        self.view = view_of(definition)
        self.terminal = terminal
        self.server = server
        self.recorder = Kept()
        self.sampler = SimpleNamespace(progress=lambda: {"trees": []})
        self.probe = SimpleNamespace(progress=lambda: self.said)
        self.said: dict[str, Any] = {"lists": [], "populated": None, "interactive_ns": None}

    def mark(self, name: str, **fields: object) -> None:
        self.recorder.write(json.dumps({"k": "mark", "name": name, **fields}))

    def keep_last_screen(self) -> str:
        return "last-screen.txt"

    def marks(self) -> list[str]:
        return [line["name"] for line in self.recorder.lines if line["k"] == "mark"]
