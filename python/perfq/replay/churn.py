"""The churn of a replay: events flow, keys are pressed, probes are sent; it ends when all is taken.

The run is extended by whole seconds while input samples are missing, up to MAX_EXTENSION_S: it is
then exactly the profile with a longer duration, and the expected digest is that plan's.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from perfq.drive.definition import move_keys
from perfq.drive.input import InputPlan, InputSampler
from perfq.drive.probes import ProbeEvents, ProbePlan
from perfq.drive.stop import Reading, Stop, check
from perfq.replay.failures import FailureScenes
from perfq.replay.options import MAX_EXTENSION_S

if TYPE_CHECKING:
    from perfq._core import ServerProgress
    from perfq.drive.progress import Progress
    from perfq.drive.signals import Interruption
    from perfq.replay.session import ReplaySession

_TICK_S = 0.05
#: The extension is decided this long before the last event, so that the stream goes on without a gap.
_DECIDE_NS = 300_000_000
#: The last pair is due this long before the end, so that a client that keeps up needs no extension.
_LAST_PAIR_S = 1.0


@dataclass
class ChurnEnd:
    """How the churn ended: extended by how much, stopped by what."""

    extended_seconds: int = 0
    expected_digest: str = ""
    stop: Stop | None = None
    client_exited: bool = False


def extension(remaining: int, done: int, elapsed_s: float, room: int) -> int:
    """How many more whole seconds the missing pairs take, at most `room`.

    They take what the others took on average: less than a second each where the client keeps up, since a
    pair that is overdue follows the former at once.
    """
    if remaining <= 0 or room <= 0:
        return 0
    per_pair_s = min(elapsed_s / max(done, 1), 1.0)
    return min(room, max(1, math.ceil(remaining * per_pair_s)))


class Churn:
    """Runs the churn of one session."""

    def __init__(self, session: ReplaySession, progress: Progress, interruption: Interruption) -> None:
        self._session = session
        self._progress = progress
        self._interruption = interruption
        self._end = ChurnEnd(expected_digest=session.options.plan.final_hash)
        self._input: InputSampler | None = None
        self._probes: ProbeEvents | None = None
        self._scenes = FailureScenes(session)

    def run(self) -> ChurnEnd:
        """Starts the plan's clock and returns when the last event was committed, or when it was stopped."""
        session, options = self._session, self._session.options
        view = session.view
        seconds = float(options.plan.duration_seconds)
        t0_ns = session.server.start_churn()
        session.mark("churn_start", t0=t0_ns, seconds=options.plan.duration_seconds)
        if options.pairs and options.client.has_cursor:
            plan = InputPlan(
                options.pairs,
                max(seconds / 2, seconds - _LAST_PAIR_S),
                move_keys(options.client, session.terminal),
                view,
            )
            self._input = InputSampler(session.terminal, session.recorder, plan)
            self._input.start(t0_ns)
        if options.probes and options.client.rows != "never":
            seed = int(str(options.profile["seed"]))
            probes = ProbePlan(options.probes, seconds, seed, view)
            self._probes = ProbeEvents(session.server, session.terminal, session.recorder, probes)
            self._probes.start(t0_ns)
        try:
            self._until_the_end(t0_ns)
        finally:
            self._finish()
        self._raise_errors()
        return self._end

    def _until_the_end(self, t0_ns: int) -> None:
        while True:
            state = self._session.server.progress()
            if self._stopped(state):
                return
            self._scenes.during(state, self._input, self._probes)
            seconds = self._session.options.plan.duration_seconds + self._end.extended_seconds
            left_ns = t0_ns + seconds * 1_000_000_000 - time.monotonic_ns()
            if left_ns < _DECIDE_NS:
                self._extend(t0_ns)
            if state["churn"]["state"] == "ended":
                return
            self._say(state, t0_ns, seconds)
            if self._interruption.wait(_TICK_S):
                continue

    def _extend(self, t0_ns: int) -> None:
        """Asks for more seconds where input samples are missing and the plan can give events."""
        sampler, plan = self._input, self._session.options.plan
        rate = int(str(self._session.options.profile["steady_events_per_second"]))
        if sampler is None or sampler.finished or rate == 0:
            return
        elapsed_s = (time.monotonic_ns() - t0_ns) / 1e9
        room = MAX_EXTENSION_S - self._end.extended_seconds
        more = extension(sampler.remaining, sampler.done_pairs, elapsed_s, room)
        if more == 0:
            return
        try:
            self._session.server.extend(more)
        except ValueError:
            # Too late, or longer than a profile may be: the pairs that are missing are told by the result.
            return
        self._end.extended_seconds += more
        self._end.expected_digest = plan.extended(self._end.extended_seconds).final_hash
        self._session.mark("extended", seconds=self._end.extended_seconds, expected=self._end.expected_digest)

    def _stopped(self, state: ServerProgress) -> bool:
        if self._interruption.requested:
            return True
        if self._session.terminal.progress()["exited"] is not None:
            self._end.client_exited = True
            return True
        self._raise_errors()
        self._end.stop = check(self._session.options.limits, self._reading(state))
        return self._end.stop is not None

    def _raise_errors(self) -> None:
        for part in (self._input, self._probes):
            if part is not None and part.error is not None:
                raise part.error

    def _reading(self, state: ServerProgress) -> Reading:
        totals = state["totals"]
        trees = self._session.sampler.progress()["trees"]
        statuses = [pair for one in totals["operations"] for pair in one["statuses"].items()]
        return Reading(
            lag_max_ns=state["churn"]["max_lag_ns"],
            requests=totals["requests"],
            errors=sum(count for status, count in statuses if int(status) >= 400),
            throttled=totals["throttled"],
            harness_rss_bytes=next((tree["rss"] for tree in trees if tree["who"] == "harness"), None),
        )

    def _finish(self) -> None:
        self._session.mark("churn_end")
        stopped = self._end.stop is not None or self._end.client_exited or self._interruption.requested
        if self._input is not None:
            self._input.stop()
        if self._probes is not None:
            self._probes.finish(0.0 if stopped else 6.0)
        if not stopped:
            self._scenes.finish()

    def _say(self, state: ServerProgress, t0_ns: int, seconds: int) -> None:
        churn = state["churn"]
        text = f"churn {(time.monotonic_ns() - t0_ns) / 1e9:.1f}/{seconds} s · {churn['committed']} events"
        if self._input is not None:
            text += f" · input {self._input.done_pairs}/{self._session.options.pairs}"
        if self._probes is not None:
            text += f" · probes {self._probes.seen}/{self._session.options.probes}"
        self._progress.update(text)
