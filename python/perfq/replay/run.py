"""One replay: start the parts, wait for the client, run the churn, drain, walk the scenarios, stop.

Nothing is judged here: all that was seen is in samples.ndjson and the manifest when this returns.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from perfq.drive.definition import step_of
from perfq.drive.scenarios import run_scenario
from perfq.drive.stop import Stop
from perfq.replay.churn import Churn, ChurnEnd
from perfq.replay.ready import await_ready
from perfq.replay.rest import rest_and_resize
from perfq.replay.session import ReplaySession

if TYPE_CHECKING:
    from collections.abc import Mapping

    from perfq._core import RecorderStatus
    from perfq.drive.environment import ClientHome
    from perfq.drive.progress import Progress
    from perfq.drive.rundir import RunDirectory
    from perfq.drive.signals import Interruption
    from perfq.profile.client import ClientDefinition
    from perfq.replay.options import ReplayOptions

_TICK_S = 0.02
#: After the last event a client has this long to show it.
DRAIN_TIMEOUT_S = 15.0
#: Watches to which nothing was written for so long have nothing more to write.
QUIET_S = 0.3


def drive(
    options: ReplayOptions, run: RunDirectory, home: ClientHome, progress: Progress, interruption: Interruption
) -> RecorderStatus:
    """Runs one replay to its end and stops all its parts; gives what became of the record.

    How it went is in the samples alone: a stop, a client that ended, a client that was never ready.
    """
    session = ReplaySession(options, run, home)
    try:
        with session:
            where = f"server {session.server.url} · {options.plan.objects} Pods"
            progress.say(f"{where} · client {options.client.name}")
            if await_ready(session, progress, interruption):
                _run_churn(session, progress, interruption)
            if interruption.requested:
                session.stop(Stop(str(interruption.signal), "asked to end"))
            session.stop_client()
            session.mark("end")
    finally:
        progress.close()
    return session.recorder.status()


def _run_churn(session: ReplaySession, progress: Progress, interruption: Interruption) -> None:
    end = Churn(session, progress, interruption).run()
    if end.stop is not None:
        session.stop(end.stop)
    if end.stop is not None or end.client_exited:
        return
    _drain(session, progress, interruption, end)
    if session.options.scenarios:
        _walk_scenarios(session, progress, interruption)
        rest_and_resize(session, interruption)


def _drain(session: ReplaySession, progress: Progress, interruption: Interruption, end: ChurnEnd) -> None:
    """Waits until the client has shown every event: its backlog is empty and its digests are as expected."""
    deadline = time.monotonic() + DRAIN_TIMEOUT_S
    if session.options.client.probe:
        while time.monotonic() < deadline and not interruption.requested:
            state = session.probe.progress()
            if not state["backlog"] and _digests_hold(state["digest"], session.options.client, end.expected_digest):
                break
            progress.update("draining")
            interruption.wait(_TICK_S)
    else:
        _await_quiet_watches(session, interruption, deadline)
    session.mark("drained")


def _digests_hold(digest: Mapping[str, Any] | None, client: ClientDefinition, expected: str) -> bool:
    if digest is None or digest["store"] != expected:
        return False
    return not client.table or bool(digest["table"] == expected)


def _await_quiet_watches(session: ReplaySession, interruption: Interruption, deadline: float) -> None:
    """Without a probe: nothing more was written to the client's watches for a while."""
    written, since = -1, time.monotonic()
    while time.monotonic() < deadline and not interruption.requested:
        now = sum(watch["events"] for watch in session.server.progress()["watches"] if watch["open"])
        if now != written:
            written, since = now, time.monotonic()
        elif time.monotonic() - since > QUIET_S:
            return
        interruption.wait(_TICK_S)


def _walk_scenarios(session: ReplaySession, progress: Progress, interruption: Interruption) -> None:
    for scenario in session.options.client.scenarios:
        if interruption.requested or session.terminal.progress()["exited"] is not None:
            return
        progress.update(f"scenario {scenario.name}")
        run_scenario(session.terminal, session.recorder, step_of(scenario, session.terminal))
