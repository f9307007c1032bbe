"""Does a client definition fit its client? The client runs on smoke-1k, and each part of the definition
that can be tried is tried: what matched, what did not, and what was seen instead.

Nothing is judged: no budget, no validity, no run directory.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import perfq.drive
from perfq.drive.definition import argv_of, environment_of, move_keys, step_of, view_of
from perfq.drive.environment import ClientHome
from perfq.drive.kubeconfig import write_kubeconfig
from perfq.drive.ready import scopes_ready
from perfq.drive.scenarios import run_scenario
from perfq.errors import UsageError
from perfq.replay import client_findings as findings
from perfq.replay.client_findings import Finding

if TYPE_CHECKING:
    from perfq.profile.client import ClientDefinition

PROFILE = "smoke-1k"
COLS, ROWS = 160, 50
READY_TIMEOUT_S = 30.0
KEY_TIMEOUT_S = 5.0
CELL_TIMEOUT_S = 5.0
#: The number that the probe writes into a visible cell: it appears nowhere else.
NUMBER = 1_000_000
_TICK_S = 0.02


@dataclass(frozen=True)
class CheckReport:
    """All findings, and the screen at the end."""

    client: str
    argv: tuple[str, ...]
    findings: tuple[Finding, ...]
    screen: tuple[str, ...]

    @property
    def fits(self) -> bool:
        """Whether nothing that was tried failed."""
        return all(finding.fits is not False for finding in self.findings)

    def to_document(self) -> dict[str, Any]:
        """For machines: `perfq.client-check/v1`."""
        return {"schema": "perfq.client-check/v1", **asdict(self), "fits": self.fits}


def check_client(client: ClientDefinition, command: tuple[str, ...], seconds: int) -> CheckReport:
    """Runs the client (the definition's command, or another) and tries the definition on it.

    The churn takes so many seconds. UsageError where it cannot be run at all, or a burst is left outside.
    """
    argv = command or argv_of(client)
    if not argv:
        raise UsageError(f"client {client.name!r} names no command; give one after `--`")
    with ExitStack() as stack:
        return _Check(client, argv, seconds, stack).run()


class _Check:
    def __init__(self, client: ClientDefinition, argv: tuple[str, ...], seconds: int, stack: ExitStack) -> None:
        from perfq import _core
        from perfq.profile.workload import resolve_profile

        self.client = client
        self.argv = argv
        self.found: list[Finding] = []
        self.seconds = seconds
        plan = _core.Plan(resolve_profile(PROFILE, duration=seconds).to_json())
        home = ClientHome.create()
        stack.callback(home.remove)
        self.server = stack.enter_context(_core.ApiServer.start({"plan": plan, "start": "manual"}))
        write_kubeconfig(home.kubeconfig, url=self.server.url, ca_pem=self.server.ca_pem, token=self.server.token)
        self.probe = stack.enter_context(_core.ProbeListener.start({"path": str(home.probe_socket)}))
        # Scenarios record what they saw; a check keeps none of it.
        folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="perfq-check-"))
        self.recorder = _core.Recorder(Path(folder, "samples.ndjson"))
        stack.callback(self.recorder.close)
        self.view = view_of(client)
        supervisor = Path(perfq.drive.__file__).with_name("supervisor.py")
        options: dict[str, Any] = {
            "argv": list(argv),
            "env": home.environment(environment_of(client)),
            "cwd": str(Path.cwd()),
            "cols": COLS,
            "rows": ROWS,
            "view": self.view,
            "milestones": self._milestones(),
            "supervisor": [sys.executable, "-I", "-S", os.fspath(supervisor)],
        }
        self.began = time.monotonic_ns()
        try:
            self.terminal = stack.enter_context(_core.Terminal.start(options))
        except OSError as error:
            raise UsageError(f"the client could not be started: {error.strerror or error}") from error

    def _milestones(self) -> list[dict[str, Any]]:
        ready = [] if self.client.ready is None else [{"name": "ready", "pattern": self.client.ready}]
        rows = [] if self.client.rows == "never" else [{"name": "rows", "rows": 1}]
        return [*ready, *rows]

    def run(self) -> CheckReport:
        """Tries everything in the order in which a replay uses it."""
        deadline = time.monotonic() + READY_TIMEOUT_S
        self._until(deadline, lambda: all(finding.fits is not False for finding in self._scopes()))
        self.found += self._scopes()
        self._until(deadline, lambda: None not in self.terminal.progress()["milestones"].values())
        self.found += self._screens()
        if self.client.probe:
            self.found.append(self._probe(deadline))
        if self.terminal.progress()["exited"] is None:
            self.server.start_churn()
            self.found += self._keys()
            self.found += self._cell()
            self._until(
                time.monotonic() + self.seconds + 5, lambda: self.server.progress()["churn"]["state"] == "ended"
            )
            self.found += self._scenarios()
        self.found.append(self._end())
        screen = tuple(self.terminal.screen()["lines"])
        return CheckReport(self.client.name, self.argv, tuple(self.found), screen)

    def _until(self, deadline: float, holds: Callable[[], bool]) -> bool:
        while not (held := holds()) and time.monotonic() < deadline:
            if self.terminal.progress()["exited"] is not None:
                return holds()
            time.sleep(_TICK_S)
        return held

    def _scopes(self) -> list[Finding]:
        progress = self.server.progress()
        opened = {(watch["kind"], watch["scope"]) for watch in progress["watches"] if watch["open"]}
        if self.client.scopes:
            return findings.declared_scopes(self.client, opened)
        state = scopes_ready((), progress, time.monotonic_ns())
        ready, others = state.ready_ns is not None, f"watched: {findings.watched(opened)}"
        return [Finding("scopes", ("scopes",), ready, others if ready else f"{state.missing}; {others}")]

    def _screens(self) -> Iterator[Finding]:
        seen = self.terminal.progress()["milestones"]
        if self.client.ready is not None:
            after = self._after(seen["ready"])
            yield Finding("ready", ("ready",), bool(after), after or "no screen matched it")
        if self.client.rows == "never":
            return
        rows = self.terminal.rows(self.view)
        if not rows:
            lines = self.terminal.screen()["lines"]
            yield findings.no_rows(self.client, lines, once=seen["rows"] is not None)
            return
        first = rows[0]
        told = f"{self._after(seen['rows'])}; {len(rows)} now, the first is {'/'.join(first['key'])}"
        yield Finding("rows", ("rows",), True, told)
        yield findings.columns(first["cells"])

    def _after(self, instant: int | None) -> str:
        return "" if instant is None else f"after {(instant - self.began) / 1e9:.2f} s"

    def _probe(self, deadline: float) -> Finding:
        def populated() -> bool:
            state = self.probe.progress()
            return state["interactive_ns"] is not None or not self.client.table

        self._until(deadline, lambda: bool(self.probe.progress()["lists"]) and populated())
        state = self.probe.progress()
        if not state["connected"]:
            return Finding("probe", ("probe",), False, "nothing connected to PERFQ_PROBE")
        lists = ", ".join(f"{one['kind']} {one['objects']}" for one in state["lists"]) or "no LIST"
        told = f"reports {lists}; {state['bad_lines']} bad lines"
        return Finding("probe", ("probe",), bool(state["lists"]) and populated(), told)

    def _keys(self) -> Iterator[Finding]:
        if not self.client.has_cursor:
            yield findings.no_cursor_declared(self.client)
            return
        cursor = self.terminal.cursor_row(self.view)
        if cursor is None:
            yield findings.no_cursor_seen(self.client.screen)
            return
        where = f"on {'/'.join(cursor['key'])}, row {cursor['row']} of the screen"
        yield Finding("cursor", ("screen.cursor",), True, where)
        keys = move_keys(self.client, self.terminal)
        for direction in ("down", "up"):
            pressed = self.terminal.press(keys[direction], direction, self.view, KEY_TIMEOUT_S)
            yield findings.key_pressed(direction, pressed, KEY_TIMEOUT_S)

    def _cell(self) -> Iterator[Finding]:
        rows = self.terminal.rows(self.view)
        if not rows:
            return
        namespace, name = rows[len(rows) // 2]["key"]
        wanted = str(NUMBER)
        self.terminal.expect_cell(0, (namespace, name), "RESTARTS", wanted, self.view)
        committed = self.server.probe(0, namespace, name, NUMBER)
        if committed is None:
            yield findings.unknown_object(self.client.screen, (namespace, name))
            return
        cells: list[Any] = []

        def seen() -> bool:
            cells.extend(self.terminal.seen_cells())
            return bool(cells)

        self._until(time.monotonic() + CELL_TIMEOUT_S, seen)
        self.server.restore(0, namespace, name)
        if cells:
            told = f"{(cells[0]['t'] - committed['t']) / 1e6:.1f} ms on {name}"
            yield Finding("event to screen", ("screen",), True, told)
        else:
            self.terminal.forget_cell(0)
            shown = next(
                (row["cells"].get("RESTARTS") for row in self.terminal.rows(self.view) if row["key"][1] == name), None
            )
            yield Finding("event to screen", ("screen",), False, f"the cell never was {wanted}; it is {shown!r}")

    def _scenarios(self) -> Iterator[Finding]:
        for index, scenario in enumerate(self.client.scenarios):
            missed = run_scenario(self.terminal, self.recorder, step_of(scenario, self.terminal))
            pattern = scenario.back_expect if missed == "back_expect" else scenario.expect
            yield findings.scenario_walked(index, scenario.name, missed, pattern)

    def _end(self) -> Finding:
        progress = self.terminal.progress()
        exited = progress["exited"]
        if progress["trouble"] is not None:
            return Finding("runs", (), False, progress["trouble"])
        if exited is not None:
            how = f"signal {exited['signal']}" if exited["signal"] else f"code {exited['code']}"
            return Finding("runs", ("command", "environment"), False, f"it ended ({how})")
        queries = ", ".join(progress["unanswered"]) or "none"
        told = f"{progress['frames']} frames, {progress['bytes']} bytes; queries unanswered: {queries}"
        return Finding("runs", ("command",), True, told)
