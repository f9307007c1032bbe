"""Where a run stands, told from the lines that it writes: for the progress line and the stop conditions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any, Final

from perfq import units
from perfq.trajectory.plan import SessionPlan

_MS: Final = 1_000_000
_RUNNING: Final = frozenset({"admitted", "running", "stopping"})

Line = dict[str, object]


class Tally:
    """Passes every line on, and counts."""

    def __init__(self, plan: SessionPlan, write: Callable[[Line], None]) -> None:
        self._arrivals = {session.n: session.arrival_ms * _MS for session in plan.sessions}
        self._write = write
        self._states: dict[int, str] = {}
        self._counted: Counter[str] = Counter()
        self.planned = len(plan.sessions)
        #: The start of the run; None: it has not begun.
        self.t0: int | None = None
        self.commands = 0
        self.commands_failed = 0
        self.failed = 0
        #: The latest arrival, by how much; None: nobody has arrived.
        self.late_max_ns: int | None = None
        self._extra: Counter[int] = Counter()

    def write(self, line: Line) -> None:
        """One line of the record."""
        self._write(line)
        match line["k"]:
            case "tj_start":
                self.t0 = _int(line["t"])
            case "tj_state":
                self._state(line)
            case "tj_command":
                self.commands += 1
                self.commands_failed += line["outcome"] != "done"
            case "tj_wait":
                self._extra[_int(line["n"])] += _extra(line)
            case "tj_session":
                self.failed += line["outcome"] == "failed"

    @property
    def running(self) -> int:
        """Sessions that were admitted and have not ended."""
        return sum(self._counted[state] for state in _RUNNING)

    @property
    def queued(self) -> int:
        """Sessions that wait for admission."""
        return self._counted["queued"]

    @property
    def done(self) -> int:
        """Sessions that have ended."""
        return self._counted["done"]

    @property
    def extra_ns(self) -> tuple[int, int] | None:
        """Extra wait so far over the sessions that had a wait, ns: mean and worst; None while there is none."""
        if not self._extra:
            return None
        return self._extra.total() // len(self._extra), max(self._extra.values())

    def status(self, now_ns: int, usage_bytes: int | None = None, budget_bytes: int | None = None) -> str:
        """`12.0 s · running 12 · queued 3 · done 5 of 80 · memory 1.2 GiB of 4 GiB · extra wait 3 ms (worst 9 ms)`."""
        if self.t0 is None:
            return "starting"
        parts = [f"{(now_ns - self.t0) / 1e9:.1f} s", f"running {self.running:,}", f"queued {self.queued:,}"]
        parts.append(f"done {self.done:,} of {self.planned:,}" + (f" ({self.failed:,} failed)" if self.failed else ""))
        if usage_bytes is not None:
            whole = "" if budget_bytes is None else f" of {units.show_bytes(budget_bytes)}"
            parts.append(f"memory {units.show_bytes(usage_bytes)}{whole}")
        if self.extra_ns is not None:
            mean, worst = self.extra_ns
            parts.append(f"extra wait {units.show_duration(mean)} (worst {units.show_duration(worst)})")
        return " · ".join(parts)

    def _state(self, line: Mapping[str, Any]) -> None:
        n, state = line["n"], line["state"]
        if n in self._states:
            self._counted[self._states[n]] -= 1
        elif state == "queued" and self.t0 is not None:
            self.late_max_ns = max(self.late_max_ns or 0, line["t"] - self.t0 - self._arrivals[n])
        self._states[n] = state
        self._counted[state] += 1


def _extra(line: Mapping[str, Any]) -> int:
    """What the harness added to a wait, as `Waited.extra_ns` has it."""
    pause = 0 if line["pause_end"] is None else line["pause_end"] - line["pause_begin"]
    resume = 0 if line["resume_end"] is None else line["resume_end"] - line["resume_begin"]
    last = line["woken"] if line["resume_end"] is None else line["resume_end"]
    return int(pause + (line["woken"] - line["due"]) + resume + (line["next_issued"] - last))


def _int(value: object) -> int:
    assert isinstance(value, int)
    return value
