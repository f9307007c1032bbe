"""The parts of one replay: recorder, server, probe listener, client in its terminal, sampler.

They are started in that order and stopped in the reverse one, whatever happens in between.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from perfq.drive.definition import environment_of, view_of
from perfq.drive.journal import Journal
from perfq.drive.kubeconfig import write_kubeconfig
from perfq.drive.leftovers import processes_at_home
from perfq.drive.session import Session
from perfq.replay.allocations import TRACING

if TYPE_CHECKING:
    from perfq.drive.environment import ClientHome
    from perfq.drive.rundir import RunDirectory
    from perfq.drive.stop import Stop
    from perfq.replay.options import ReplayOptions

SAMPLE_EVERY_MS = 100
CLIENT_GRACE_S = 2.0
#: A client that traces its allocations compares them once more before it leaves.
TRACED_GRACE_S = 20.0


class ReplaySession(Session):
    """Everything that runs during a replay."""

    def __init__(self, options: ReplayOptions, run: RunDirectory, home: ClientHome) -> None:
        self.options = options
        self.run = run
        self.home = home
        super().__init__()
        self._marked_stop = False
        #: Processes of the client that outlived its end; known once it was stopped.
        self.left: tuple[int, ...] = ()

    def open(self) -> None:
        """Starts them."""
        from perfq import _core

        options = self.options
        self.recorder = _core.Recorder(self.run.path / "samples.ndjson")
        self.stack.callback(self.recorder.close)
        self._journal = Journal(self.recorder)
        self.server = _core.ApiServer.start(
            {
                "plan": options.plan,
                "recorder": self.recorder,
                "start": "manual",
                "pod_bytes": options.pod_bytes,
            }
        )
        self.stack.callback(self.server.stop)
        write_kubeconfig(self.home.kubeconfig, url=self.server.url, ca_pem=self.server.ca_pem, token=self.server.token)
        self.probe = _core.ProbeListener.start({"path": str(self.home.probe_socket), "recorder": self.recorder})
        self.stack.callback(self.probe.stop)
        self.view = view_of(self.options.client)
        self.terminal = _core.Terminal.start(self._terminal_options())
        self.stack.callback(self._stop_client)
        self.mark("spawned")
        self.sampler = _core.TreeSampler.start(
            {
                "recorder": self.recorder,
                "interval_ms": SAMPLE_EVERY_MS,
                "trees": [{"who": "client", "pid": self.terminal.pid, "reaper": self.terminal.supervisor_pid}],
                "self": "harness",
            }
        )
        self.stack.callback(self.sampler.stop)

    def _terminal_options(self) -> dict[str, Any]:
        options = self.options
        environment = self.home.environment(environment_of(options.client))
        if options.allocations:
            environment |= TRACING
        supervisor = Path(__file__).parent.parent / "drive" / "supervisor.py"
        return {
            "argv": list(options.argv),
            "env": environment,
            "cwd": os.getcwd(),  # noqa: PTH109 - said in the report: the caller's own directory
            "cols": options.size.cols,
            "rows": options.size.rows,
            "recorder": self.recorder,
            "view": self.view,
            "milestones": self._milestones(),
            "cast": str(self.run.path / "terminal.cast"),
            "supervisor": [sys.executable, "-I", "-S", str(supervisor)],
        }

    @property
    def rows_wanted(self) -> int:
        """How many rows the first page of the client's table has at least."""
        return min(self.options.plan.objects, self.options.size.rows // 2)

    def _milestones(self) -> list[dict[str, Any]]:
        """What the terminal records the first time that the screen shows it."""
        client = self.options.client
        found: list[dict[str, Any]] = []
        if client.ready is not None:
            found.append({"name": "ready", "pattern": client.ready})
        if client.rows != "never":
            found.append({"name": "populated", "rows": self.rows_wanted})
        return found

    def mark(self, name: str, **fields: object) -> int:
        """Records that a phase began; gives the instant."""
        return self._journal.mark(name, **fields)

    def stop(self, stop: Stop) -> None:
        """Records that a stop condition, or a signal, ended the run."""
        self._journal.stop(stop)

    def keep_last_screen(self) -> str:
        """Writes both screens of the client beside the recordings; gives the file's name."""
        screen = self.terminal.screen()
        shown, other = ("\n".join(screen[name]).rstrip() for name in ("lines", "other"))
        text = f"{shown}\n" + (f"\n--- the other screen ---\n{other}\n" if other else "")
        self.run.write("last-screen.txt", text)
        return "last-screen.txt"

    def _stop_client(self) -> None:
        if not self._marked_stop:
            self._marked_stop = True
            self.mark("stopping", unanswered=self.terminal.progress()["unanswered"])
            stopped = self.terminal.stop(TRACED_GRACE_S if self.options.allocations else CLIENT_GRACE_S)
            # A supervisor that ended before its time did not tell what outlived it.
            self.left = tuple(processes_at_home(self.home) if stopped["killed"] is None else stopped["left"])
            self.mark("client_stopped", trouble=self.terminal.progress()["trouble"], left=self.left)

    def stop_client(self) -> None:
        """Ends the client and all it started."""
        self._stop_client()
