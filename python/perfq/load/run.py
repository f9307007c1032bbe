"""One load: start the parts, watch the engine until it has ended, stop what has to be stopped.

Nothing is judged here: all that was seen is in samples.ndjson and the manifest when this returns.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from perfq.drive.stop import Reading, Stop, check
from perfq.load.session import WARMING_UP, LoadSession, raise_failure
from perfq.load.status import status
from perfq.load.told import called

if TYPE_CHECKING:
    from perfq._core import LoadProgress, RecorderStatus
    from perfq.drive.progress import Progress
    from perfq.drive.rundir import RunDirectory
    from perfq.drive.signals import Interruption
    from perfq.load.options import LoadOptions
    from perfq.load.planned import PlannedLoad

_TICK_S: Final = 0.25


def drive(options: LoadOptions, run: RunDirectory, progress: Progress, interruption: Interruption) -> RecorderStatus:
    """Runs one load to its end and stops all its parts; gives what became of the record.

    TargetUnreachable (7) and UsageError (2) where it could not begin. How it went after T0, or that it was asked to end
    before, is in the samples alone.
    """
    session = LoadSession(options, run)
    progress.say(f"load of {options.planned.facts.name} on {options.target.shown}")
    try:
        with session:
            stopped = _until_the_end(session, progress, interruption)
            last = session.engine.progress()
            failure = _failure(options.planned, last, stopped=stopped)
            if failure is not None:
                session.journal.mark("failed", why=failure["text"])
            session.read_server_metrics("after")
            if session.tokens.failure is not None:
                session.journal.mark("credential", why=session.tokens.failure)
            session.journal.mark("end")
    finally:
        progress.close()
    if failure is not None and last["segment"] == 0 and last["t0"] is None:
        raise_failure(failure, options.target.shown)
    return session.recorder.status()


def _failure(planned: PlannedLoad, last: LoadProgress, *, stopped: bool) -> dict[str, str] | None:
    """What went wrong, if anything did."""
    failure = last["failure"]
    if failure is None or (stopped and failure["class"] in WARMING_UP):
        # It was asked to end while connections were opened: that this came to nothing is no failure.
        return None
    return failure | {"text": called(failure["text"], planned.requests_file, planned.facts.name)}


def _until_the_end(session: LoadSession, progress: Progress, interruption: Interruption) -> bool:
    """Whether it was asked to end before it had."""
    stopped = False
    while not session.engine.wait(_TICK_S):
        # The engine tells where it stands at the cost of its own locks: it is asked only for what somebody reads.
        if progress.due:
            progress.update(status(session.engine.progress()))
        if stopped:
            continue
        stop = _asked_to_end(session, interruption)
        if stop is not None:
            stopped = True
            session.journal.stop(stop)
            session.engine.stop(stop.why)
    return stopped


def _asked_to_end(session: LoadSession, interruption: Interruption) -> Stop | None:
    if interruption.requested:
        return Stop(str(interruption.signal), interruption.figure)
    limits = session.options.limits
    return check(limits, _reading(session)) if limits.of_figures else None


def _reading(session: LoadSession) -> Reading:
    state = session.engine.progress()
    failed = sum(state["errors"].values()) + state["timed_out"]
    trees = session.sampler.progress()["trees"]
    return Reading(
        lag_max_ns=state["lag_ns"],
        requests=state["ok"] + failed,
        errors=failed,
        throttled=state["errors"].get("http/429", 0),
        harness_rss_bytes=next((tree["rss"] for tree in trees if tree["who"] == "harness"), None),
        late="requests were sent",
    )
