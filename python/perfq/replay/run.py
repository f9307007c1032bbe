"""One replay: start the parts, wait for the client, run the churn, drain, walk the scenarios, stop.

Nothing is judged here: all that was seen is in samples.ndjson and the manifest when this returns.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from perfq.drive.cpu_profile import FILE, CpuProfile
from perfq.drive.definition import step_of
from perfq.drive.scenarios import run_scenario
from perfq.drive.stop import Stop
from perfq.replay.churn import Churn
from perfq.replay.drain import drain
from perfq.replay.ready import await_ready
from perfq.replay.rest import rest_and_resize
from perfq.replay.session import ReplaySession

if TYPE_CHECKING:
    from perfq._core import RecorderStatus
    from perfq.drive.environment import ClientHome
    from perfq.drive.progress import Progress
    from perfq.drive.rundir import RunDirectory
    from perfq.drive.signals import Interruption
    from perfq.replay.options import ReplayOptions


@dataclass(frozen=True)
class Driven:
    """What a replay leaves: what became of its record, and processes of the client that outlived its end."""

    recorder: RecorderStatus
    left: tuple[int, ...]


def drive(
    options: ReplayOptions, run: RunDirectory, home: ClientHome, progress: Progress, interruption: Interruption
) -> Driven:
    """Runs one replay to its end and stops all its parts.

    How it went is in the samples alone: a stop, a client that ended, a client that was never ready.
    """
    interruption.limit(options.limits.max_time_s)
    session = ReplaySession(options, run, home)
    try:
        with session:
            where = f"server {session.server.url} · {options.plan.objects} Pods"
            progress.say(f"{where} · client {options.client.name}")
            if await_ready(session, progress, interruption):
                _run_churn(session, progress, interruption)
            if interruption.requested:
                session.stop(Stop(str(interruption.signal), interruption.figure))
            session.stop_client()
            session.mark("end")
    finally:
        progress.close()
    return Driven(session.recorder.status(), session.left)


def _run_churn(session: ReplaySession, progress: Progress, interruption: Interruption) -> None:
    with profiled(session):
        end = Churn(session, progress, interruption).run()
    if end.stop is not None:
        session.stop(end.stop)
    if end.stop is not None or end.client_exited:
        return
    drain(session, progress, interruption, end.expected_digest)
    if session.options.scenarios:
        _walk_scenarios(session, progress, interruption)
        rest_and_resize(session, interruption)


@contextmanager
def profiled(session: ReplaySession) -> Iterator[None]:
    """Samples the client's CPU meanwhile, where that was asked for; why there is no profile is marked."""
    profiler = session.options.profiler
    if profiler is None:
        yield
        return
    profile = CpuProfile(profiler, session.terminal.pid, session.run.path / FILE)
    try:
        yield
    finally:
        session.mark("cpu_profile", why=profile.stop())


def _walk_scenarios(session: ReplaySession, progress: Progress, interruption: Interruption) -> None:
    for scenario in session.options.client.scenarios:
        if interruption.requested or session.terminal.progress()["exited"] is not None:
            return
        progress.update(f"scenario {scenario.name}")
        run_scenario(session.terminal, session.recorder, step_of(scenario, session.terminal))
