"""What the driver itself does for a failure profile: it opens the log that trickles.

All other failures are injected by the server, at the event that the profile names.
"""

from __future__ import annotations

import json
import re
import time
from typing import TYPE_CHECKING, Any

from perfq.drive.definition import step_of
from perfq.drive.scenarios import TIMEOUT_S, Step, led_to, run_scenario
from perfq.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from perfq._core import ServerProgress
    from perfq.drive.input import InputSampler
    from perfq.drive.probes import ProbeEvents
    from perfq.profile.client import ClientDefinition
    from perfq.replay.session import ReplaySession

#: How long the trickling log stays open.
LOG_OPEN_S = 6.0
_REFUSED = re.compile(r"forbidden|\b403\b", re.IGNORECASE)

#: What a client must be able to do for each failure kind, as a question to its definition.
NEEDS = {
    "gone": "it watches Pods",
    "throttled": "it watches Pods",
    "forbidden": "it has a second scope (nodes)",
    "slow": "it takes keys",
    "metrics_unavailable": "it polls metrics",
    "slow_logs": "it has a scenario that opens a log",
}


def refuse_what_cannot_be_exercised(profile: Mapping[str, Any], client: ClientDefinition) -> None:
    """UsageError where the profile injects what this kind of client can never meet."""
    able = client.failure_kinds()
    for i, failure in enumerate(profile["failures"]):
        kind = failure["kind"]
        if kind not in able:
            raise UsageError(
                f"failures.{i}.kind: client {client.name!r} cannot exercise {kind!r} "
                f"(it would only if {NEEDS[kind]}); use --client viewer or another profile"
            )


def _injected(state: ServerProgress, kind: str) -> bool:
    fault = state["faults"].get(kind)
    return fault is not None and fault["injected"] > 0


class FailureScenes:
    """Opens the log when the server says that logs trickle from now on, and closes it again."""

    def __init__(self, session: ReplaySession) -> None:
        self._session = session
        self._closes: float | None = None
        self._done = False
        self._refusals = 0

    def during(self, state: ServerProgress, pairs: InputSampler | None, probes: ProbeEvents | None) -> None:
        """Called on every tick of the churn."""
        if _injected(state, "forbidden"):
            self._count_refusals()
        if self._done:
            return
        if self._closes is None:
            if not _injected(state, "slow_logs"):
                return
            for part in (pairs, probes):
                if part is not None:
                    part.pause()
            self._open()
            self._closes = time.monotonic() + LOG_OPEN_S
        elif time.monotonic() >= self._closes:
            self.finish()
            for part in (pairs, probes):
                if part is not None:
                    part.resume()

    def finish(self) -> None:
        """Closes the log if it is open still: what follows begins on the table."""
        if self._closes is not None and not self._done:
            self._done = True
            self._close()

    def _count_refusals(self) -> None:
        """Records, each time it changes, in how many places the screen says that access was refused."""
        # A line that says "403 … forbidden" says it once.
        places = sum(bool(_REFUSED.search(line)) for line in self._session.terminal.screen()["lines"])
        if places != self._refusals:
            self._refusals = places
            record = {"k": "screen", "t": time.monotonic_ns(), "ev": "forbidden", "rows": places}
            self._session.recorder.write(json.dumps(record))

    def _step(self) -> Step | None:
        scenario = self._session.options.client.scenario("logs")
        return None if scenario is None else step_of(scenario, self._session.terminal)

    def _open(self) -> None:
        step = self._step()
        if step is None:
            return
        self._session.mark("log_opening")
        open_only = Step(name="slow_logs", keys=step.keys, expect=step.expect)
        run_scenario(self._session.terminal, self._session.recorder, open_only)
        self._session.mark("log_open")

    def _close(self) -> None:
        step = self._step()
        self._session.mark("log_closing")
        if step is not None and step.back:
            led_to(self._session.terminal, step.back, step.back_expect, TIMEOUT_S)
        self._session.mark("log_closed")
