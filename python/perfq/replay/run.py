"""One replay: start the parts, wait for the client, run the churn, drain, walk the scenarios, stop.

Nothing is judged here: all that was seen is in samples.ndjson and the manifest when this returns.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from perfq.drive.definition import step_of, view_of
from perfq.drive.ready import SCREEN_GRACE_NS, scopes_ready
from perfq.drive.scenarios import run_scenario
from perfq.replay.churn import Churn, ChurnEnd
from perfq.replay.failures import FailureScenes
from perfq.replay.session import ReplaySession

if TYPE_CHECKING:
    from perfq.drive.progress import Progress
    from perfq.drive.rundir import RunDirectory
    from perfq.drive.signals import Interruption
    from perfq.replay.options import ReplayOptions

_TICK_S = 0.02
#: After the last event a client has this long to show it.
DRAIN_TIMEOUT_S = 15.0


@dataclass
class Driven:
    """How the drive went, as far as the samples do not say it."""

    churn: ChurnEnd | None = None
    invalid: str | None = None
    aborted: str | None = None
    cleanup_left: list[str] = field(default_factory=list)


def drive(options: ReplayOptions, run: RunDirectory, progress: Progress, interruption: Interruption) -> Driven:
    """Runs one replay to its end; what went wrong with the client or the harness is in the answer."""
    driven = Driven()
    session = ReplaySession(options, run)
    with session:
        progress.say(f"server {session.server.url} · {options.plan.objects} Pods · client {options.client.name}")
        driven.invalid = _await_ready(session, progress, interruption)
        if interruption.requested:
            driven.aborted = f"ended by {interruption.signal} before the churn began"
        elif driven.invalid is None:
            _run_churn(session, progress, interruption, driven)
        session.stop_client()
    driven.cleanup_left = list(session.left)
    progress.close()
    return driven


def _run_churn(session: ReplaySession, progress: Progress, interruption: Interruption, driven: Driven) -> None:
    churn = Churn(session, progress, interruption)
    scenes = FailureScenes(session)
    churn.during = scenes.during
    end = churn.run()
    driven.churn = end
    if end.stop is not None:
        driven.aborted = end.stop.sentence
        session.mark("aborted", why=end.stop.why, figure=end.stop.figure)
        return
    if end.client_exited:
        return
    _drain(session, progress, interruption, end)
    if session.options.scenarios and not interruption.requested:
        _walk_scenarios(session, progress, interruption)
    if interruption.requested:
        driven.aborted = f"ended by {interruption.signal}"


def _await_ready(session: ReplaySession, progress: Progress, interruption: Interruption) -> str | None:
    """Returns None once the client is ready and populated; else why it is not."""
    options = session.options
    deadline = time.monotonic() + options.ready_timeout_s
    declared = options.client.scopes
    missing = "nothing yet"
    while time.monotonic() < deadline and not interruption.requested:
        exited = session.terminal.progress()["exited"]
        if exited is not None:
            name = session.keep_last_screen()
            return f"the client ended before it was ready ({_exit_text(exited)}); its last screen is in {name}"
        now_ns = time.monotonic_ns()
        state = scopes_ready(declared, session.server.progress(), now_ns)
        if state.ready_ns is None:
            missing = state.missing or missing
        else:
            lacking = _not_populated(session, now_ns - state.ready_ns)
            if lacking is None:
                session.mark("populated")
                return None
            missing = lacking
        progress.update(f"waiting for the client: {missing}")
        interruption.wait(_TICK_S)
    if interruption.requested:
        return None
    name = session.keep_last_screen()
    return f"the client was not ready within {options.ready_timeout_s:g} s: {missing}; its last screen is in {name}"


def _exit_text(exited: Mapping[str, Any]) -> str:
    if exited.get("signal"):
        return f"killed by signal {exited['signal']}"
    return f"exit code {exited.get('code')}"


def _not_populated(session: ReplaySession, since_ready_ns: int) -> str | None:
    """What is still to be seen of a client whose scopes are ready; None when it is populated."""
    client, objects = session.options.client, session.options.plan.objects
    if client.probe:
        probe = session.probe.progress()
        if probe["populated"] is None:
            return "its table is not populated (probe)"
        if probe["interactive_ns"] is None:
            return "it is not interactive (probe)"
    if client.rows == "never":
        return None
    rows = len(session.terminal.rows(view_of(client)))
    wanted = min(objects, session.options.size.rows // 2)
    if rows >= wanted:
        if not session.screen_populated:
            session.screen_populated = True
            session.recorder.write(
                f'{{"k":"screen","t":{session.terminal.progress()["last_output_ns"]},"ev":"populated","rows":{rows}}}'
            )
        return None
    if client.rows == "maybe" and since_ready_ns > SCREEN_GRACE_NS:
        session.mark("no_rows", rows=rows)
        return None
    return f"its screen shows {rows} rows of at least {wanted}"


def _drain(session: ReplaySession, progress: Progress, interruption: Interruption, end: ChurnEnd) -> None:
    """Waits until the client has shown every event: its backlog is empty and its digests are as expected."""
    deadline = time.monotonic() + DRAIN_TIMEOUT_S
    if session.options.client.probe:
        while time.monotonic() < deadline and not interruption.requested:
            state = session.probe.progress()
            digest = state["digest"]
            if (
                digest is not None
                and not state["backlog"]
                and digest["store"] == digest["table"] == end.expected_digest
            ):
                break
            if digest is not None and not session.options.client.table and digest["store"] == end.expected_digest:
                break
            progress.update("draining")
            interruption.wait(_TICK_S)
    else:
        _await_quiet_watches(session, interruption, deadline)
    session.mark("drained")


def _await_quiet_watches(session: ReplaySession, interruption: Interruption, deadline: float) -> None:
    """Without a probe: every event has been written to the client's watches."""
    while time.monotonic() < deadline and not interruption.requested:
        watches = session.server.progress()["watches"]
        if all(not watch.get("queued") for watch in watches if watch["open"]):
            return
        interruption.wait(_TICK_S)


def _walk_scenarios(session: ReplaySession, progress: Progress, interruption: Interruption) -> None:
    for scenario in session.options.client.scenarios:
        if interruption.requested or session.terminal.progress()["exited"] is not None:
            return
        progress.update(f"scenario {scenario.name}")
        run_scenario(session.terminal, session.recorder, step_of(scenario))
