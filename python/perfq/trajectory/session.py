"""One session: launched, its commands and waits one after another, ended; whatever ends it, nothing of it is left."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final, Literal, Protocol

from perfq.profile.trajectory.trajectory import ExecStep
from perfq.trajectory import audits
from perfq.trajectory.admission import Admitted
from perfq.trajectory.clock import Clock
from perfq.trajectory.finishing import finish
from perfq.trajectory.lived import Fate, Lived
from perfq.trajectory.local.clearing import Closed
from perfq.trajectory.local.command import Ended
from perfq.trajectory.plan import Session
from perfq.trajectory.sampling import Drained, NoSampling, SampledPause, Sampling
from perfq.trajectory.waits import PauseFailed, Pausing, Waited, wait

_MS: Final = 1_000_000

WaitMode = Literal["idle", "freeze", "offload"]
Write = Callable[[dict[str, object]], None]


class StartFailed(Exception):
    """A sandbox did not come up; the message says why."""


class Sandbox(Protocol):
    """What a session runs in."""

    @property
    def place(self) -> dict[str, object]:
        """Its pid and cgroup, as far as it has them."""
        ...

    def pausing(self, mode: Literal["freeze", "offload"]) -> Pausing:
        """How a wait pauses it. PauseFailed where it cannot be."""
        ...

    async def run(self, step: int, command: ExecStep) -> Ended:
        """Runs one command to its end."""
        ...

    async def close(self) -> Closed:
        """Ends all that runs in it and removes it; it is called once, and is not cancelled."""
        ...


class Backend(Protocol):
    """Makes sandboxes."""

    async def open(self, session: Session) -> Sandbox:
        """A sandbox that is ready; StartFailed where it is not, with nothing left of it."""
        ...


def command_record(n: int, step: int, ended: Ended, timeout_ms: int, due_ns: int) -> dict[str, object]:
    """A command's line in the record."""
    output = ended.output
    return {
        "k": "tj_command",
        "t": ended.returned_ns,
        "n": n,
        "step": step,
        "due": due_ns,
        "issued": ended.issued_ns,
        "started": ended.started_ns,
        "ended": ended.ended_ns,
        "returned": ended.returned_ns,
        "exit_code": ended.exit_code,
        "signal": ended.signal,
        "outcome": ended.outcome,
        "why": ended.why,
        "timeout_ms": timeout_ms,
        "output_bytes": None if output is None else output.size,
        "output_sha256": None if output is None else output.sha256,
        "left": None if ended.left is None else [[one.pid, one.start_ticks] for one in ended.left],
    }


@dataclass(frozen=True)
class Around:
    """What every session of a run shares."""

    clock: Clock
    backend: Backend
    write: Write
    timeout_ms: int
    wait_mode: WaitMode = "idle"
    sampling: Sampling = field(default_factory=NoSampling)


async def live(around: Around, lived: Lived, admitted: Admitted, ready: Callable[[], None]) -> None:
    """Lives it. Whatever ends it, a cancellation too, its sandbox is closed and the record has its lines."""
    clock, stamps = around.clock, lived.stamps
    stamps.admitted = admitted.admitted_ns
    lived.queue_memory_ns, lived.queue_launch_ns = admitted.queue_memory_ns, admitted.queue_launch_ns
    sandbox: Sandbox | None = None
    stamps.launched = clock.now_ns()
    try:
        sandbox = await around.backend.open(lived.session)
        lived.place = sandbox.place
        around.sampling.attach(lived.session.n, lived.place)
        stamps.ready = clock.now_ns()
        ready()
        lived.fate, lived.why = await _steps(around, lived, sandbox)
    except StartFailed as error:
        lived.why = str(error)
    except asyncio.CancelledError:
        lived.fate, lived.why = "cancelled", "the run was stopped"
        raise
    except Exception as error:
        lived.why = f"internal error: {error!r}"
        raise
    finally:
        stamps.stopping = clock.now_ns()
        lived.cut_short(stamps.stopping)
        if sandbox is not None:
            await finish(_closed(around, lived, sandbox))
        stamps.stopped = clock.now_ns()
        if lived.left and lived.fate == "completed":
            lived.fate, lived.why = "failed", lived.left[0]
        steps = len(lived.session.steps)
        around.write(
            audits.steps_accounted(steps, lived.outcomes, lived.cut, lived.why).record(lived.session.n, stamps.stopped)
        )
        around.write(lived.record())


async def _closed(around: Around, lived: Lived, sandbox: Sandbox) -> None:
    """First the sample in flight, then the sandbox; what was found of both is written."""
    n = lived.session.n
    drained: Drained = await around.sampling.drain(n)
    closed = await sandbox.close()
    lived.left = closed.left
    now = around.clock.now_ns()
    if closed.counters is not None:
        around.write(closed.counters.record(n, now))
    for audit in (*closed.audits, *drained.audits()):
        around.write(audit.record(n, now))


async def _steps(around: Around, lived: Lived, sandbox: Sandbox) -> tuple[Fate, str | None]:
    n, due_ns = lived.session.n, around.clock.now_ns()
    fate: Fate = "completed"
    why: str | None = None
    for index, step in enumerate(lived.session.steps):
        if lived.stamps.first is None:
            lived.stamps.first = around.clock.now_ns()
        lived.step_began_ns, lived.in_wait = around.clock.now_ns(), not isinstance(step, ExecStep)
        if isinstance(step, ExecStep):
            ended = await sandbox.run(index, step)
            around.write(command_record(n, index, ended, step.timeout_ms or around.timeout_ms, due_ns))
            lived.ran(ended)
            due_ns = ended.returned_ns
            if ended.outcome not in ("done", "timed_out_cleaned"):
                fate, why = "failed", f"step {index}: {ended.outcome}" + (f", {ended.why}" if ended.why else "")
                break
        else:
            try:
                pausing = _pausing(around, n, step.pause or around.wait_mode, sandbox)
                waited: Waited = await wait(around.clock, index, step.wait_ms * _MS, pausing)
            except PauseFailed as error:
                fate, why = "failed", f"step {index}: {error}"
                break
            around.write(waited.record(n))
            lived.waited(waited)
            due_ns = waited.due_ns
    lived.stamps.last = around.clock.now_ns()
    return fate, why


def _pausing(around: Around, n: int, mode: WaitMode, sandbox: Sandbox) -> Pausing | None:
    """Its sampler is stopped, and has said so, before a sandbox is paused; and goes on after it was resumed."""
    if mode == "idle":
        return None
    if mode == "offload" and around.wait_mode != "offload":
        raise PauseFailed(f"an offload is asked for in a run whose wait.mode is {around.wait_mode}")
    return SampledPause(around.sampling, n, sandbox.pausing(mode))
