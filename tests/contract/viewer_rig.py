"""The reference client in a real terminal on the embedded server, with a probe listener beside it."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.contract.deadline import wait_for

import perfq.drive
from perfq import _core
from perfq.drive.kubeconfig import write_kubeconfig
from perfq.profile.workload import resolve_profile

SUPERVISOR = str(Path(perfq.drive.__file__).with_name("supervisor.py"))
TOP = Path(__file__).resolve().parent.parent.parent


@dataclass
class Rig:
    """What runs, and the words for asking it."""

    plan: _core.Plan
    server: _core.ApiServer
    listener: _core.ProbeListener
    terminal: _core.Terminal
    view: _core.TerminalView
    samples: Path
    recorder: _core.Recorder

    def until(self, holds: Callable[[], Any], seconds: float = 60) -> None:
        """Waits until it holds; the screen and the counts are in the failure."""
        assert wait_for(lambda: bool(holds()), seconds), (
            "\n".join(self.terminal.screen()["lines"]) + f"\n{self.listener.progress()}\n{self.server.progress()}"
        )

    def until_shown(self, pattern: str, seconds: float = 60) -> None:
        """Waits for a pattern on the screen."""
        assert self.terminal.wait_screen(pattern, seconds) is not None, "\n".join(self.terminal.screen()["lines"])

    def shown(self) -> str:
        """The screen as text."""
        return "\n".join(self.terminal.screen()["lines"])

    def press(self, *keys: str) -> None:
        """Writes keys, by name or character."""
        for key in keys:
            self.terminal.write(self.terminal.key(key))

    def type(self, text: str) -> None:
        """Writes characters."""
        self.press(*text)

    def populated(self) -> None:
        """Waits until both watches are open and all Pods are in the table."""
        self.until(lambda: self.listener.progress()["populated"] is not None and len(self.open_watches()) >= 1)

    def open_watches(self) -> list[Any]:
        """The open ones."""
        return [watch for watch in self.server.progress()["watches"] if watch["open"]]

    def requests(self, kind: str) -> list[dict[str, Any]]:
        """Recorded requests of a kind, in their order."""
        self.recorder.flush()
        lines = [json.loads(line) for line in self.samples.read_text().splitlines()]
        return [line for line in lines if line["k"] == "req" and line["kind"] == kind]

    def settled(self) -> None:
        """Waits until store and table hold what the server holds, and every event has its fate."""

        def holds() -> bool:
            said = self.listener.progress()
            digest = said["digest"]
            expected = self.server.digest()
            counted = said["rendered"] + said["coalesced"] + said["dropped"]
            return (
                digest is not None
                and digest["store"] == digest["table"] == expected
                and said["received"] == counted == self.delivered()
            )

        self.until(holds)

    def delivered(self) -> int:
        """Pod events written to the viewer's watches, by the server's count."""
        return sum(watch["events"] for watch in self.server.progress()["watches"] if watch["kind"] == "pods")


@contextmanager
def rig(
    profile: str, folder: Path, *, arguments: tuple[str, ...] = ("-A", "--split", "nodes"), **more: Any
) -> Iterator[Rig]:
    """Starts all of it. `env` adds to the viewer's environment, `cols` and `rows` set the
    terminal, `token` replaces the right one."""
    plan = _core.Plan(resolve_profile(profile).to_json())
    kubeconfig, samples, socket = folder / "kubeconfig", folder / "samples.ndjson", folder / "probe"
    with ExitStack() as stack:
        recorder = _core.Recorder(samples)
        stack.callback(recorder.close)
        server = stack.enter_context(_core.ApiServer.start({"plan": plan, "recorder": recorder}))
        write_kubeconfig(kubeconfig, url=server.url, ca_pem=server.ca_pem, token=more.get("token", server.token))
        listener = stack.enter_context(_core.ProbeListener.start({"path": str(socket)}))
        env: Mapping[str, str] = {
            "PATH": os.environ["PATH"],
            "HOME": str(folder),
            "TERM": "xterm-256color",
            "LANG": "C.UTF-8",
            "PYTHONPATH": str(TOP / "python"),
            "KUBECONFIG": str(kubeconfig),
            "PERFQ_PROBE": str(socket),
            **more.get("env", {}),
        }
        terminal = stack.enter_context(
            _core.Terminal.start(
                {
                    "argv": [sys.executable, "-m", "perfq.viewer", *arguments],
                    "env": env,
                    "cwd": str(folder),
                    "cols": more.get("cols", 160),
                    "rows": more.get("rows", 50),
                    "supervisor": [sys.executable, "-I", "-S", SUPERVISOR],
                    "cast": str(folder / "terminal.cast"),
                }
            )
        )
        view = _core.TerminalView(
            {"name": "NAME", "namespace": "NAMESPACE", "required": ["RESTARTS"], "cursor": "reverse"}
        )
        yield Rig(plan, server, listener, terminal, view, samples, recorder)
