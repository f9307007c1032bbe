"""What a run of sessions stands on, put up before it and taken down after: on this machine, for the profile's backend.

    refuse(plan, allow_local_exec)                       # before there is a run directory: exit 2 or 5
    place = Place.of(run_id)
    async with ground(plan, place, write, say) as setting:
        outcome = await run(plan, setting, stop)         # `stop`: an asyncio.Event that ends the run early
    left = place.close()                                 # what could not be removed: exit 6

`write` is given each line of the record (docs/reference/samples.md), `say` each sentence for people: what was swept,
what this machine does not let us have. No signal is handled here and nothing is judged.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import AsyncIterator, Callable, Iterator

from perfq.errors import UsageError
from perfq.profile.trajectory.profile import CommandBackend
from perfq.trajectory import audits
from perfq.trajectory.cgroup import counters, run_group
from perfq.trajectory.cgroup.run_group import NoGroup, RunGroup
from perfq.trajectory.clock import MonotonicClock
from perfq.trajectory.external.sandbox import ExternalBackend, refuse_what_the_runtime_cannot
from perfq.trajectory.journal import StartedJournal
from perfq.trajectory.local.command import Bounds, LocalCommands
from perfq.trajectory.local.orphans import Orphans
from perfq.trajectory.local.sandbox import LocalBackend, bounds_of, refuse_what_cannot_run, wait_modes
from perfq.trajectory.places import Place, sweep_earlier
from perfq.trajectory.plan import SessionPlan
from perfq.trajectory.run import Setting
from perfq.trajectory.session import Write

Say = Callable[[str], object]


def refuse(plan: SessionPlan, allow_local_exec: bool = False) -> None:
    """What is known before the run. GuardRefused (5) for scripts of others, UsageError (2) for what is not there."""
    kind, budget = plan.profile.backend.kind, plan.profile.admission.budget_bytes
    if kind == "pods":
        raise UsageError("backend.kind: got pods, which is not there yet; use local or command")
    frozen = None
    if "freeze" in wait_modes(plan) or budget is not None:
        with _group(f"probe-{os.getpid()}") as found:
            frozen = found.why if isinstance(found, NoGroup) else None
            if budget is not None and _usage(found, plan)() is None:
                why = found.why if isinstance(found, NoGroup) else "; ".join(found.missing)
                raise UsageError(
                    "admission.budget_bytes is set, but the memory in use by the sessions cannot be read here "
                    f"({why}); leave it out and use admission.max_concurrent"
                )
    if kind == "local":
        refuse_what_cannot_run(plan, allow_local_exec, frozen)
    else:
        refuse_what_the_runtime_cannot(plan)


@contextlib.asynccontextmanager
async def ground(plan: SessionPlan, place: Place, write: Write, say: Say = lambda _: None) -> AsyncIterator[Setting]:
    """First what killed runs have left is swept. Whatever ends the block, all that was put up is taken down."""
    bounds, name = bounds_of(plan), place.workspaces.name
    with LocalCommands() as commands:
        for sentence in await sweep_earlier(commands, bounds):
            say(sentence)
        journal, clean = StartedJournal(place.journal, name), False
        try:
            with _group(name, journal) as found, contextlib.ExitStack() as stack:
                for sentence in [found.why] if isinstance(found, NoGroup) else found.missing:
                    say(f"cgroups: {sentence}")
                for sentence in _not_held(plan):
                    say(sentence)
                group = found if isinstance(found, RunGroup) else None
                orphans = stack.enter_context(Orphans()) if group is None else Orphans()
                site = LocalBackend(name, place.workspaces, commands, bounds, journal, group, orphans.adopting)
                backend = _backend(plan, site)
                try:
                    yield Setting(MonotonicClock(), backend, write, _usage(found, plan, backend))
                finally:
                    clean = await _adopted(orphans, bounds, write) if group is None else _end(group, write)
        finally:
            closed = journal.close(clean)
            write(audits.journal_closed(place.journal, closed).record(None, time.monotonic_ns()))


@contextlib.contextmanager
def _group(run_id: str, journal: StartedJournal | None = None) -> Iterator[RunGroup | NoGroup]:
    """Removed at the end."""
    found = run_group.make(run_id) if journal is None else run_group.make(run_id, journal.group)
    with found if isinstance(found, RunGroup) else contextlib.nullcontext():
        yield found


def _not_held(plan: SessionPlan) -> Iterator[str]:
    """What the recordings say of their surroundings, and the backend leaves undone."""
    local = plan.profile.backend.kind == "local"
    environments = [session.trajectory.environment for session in plan.sessions]
    limited = sum(one.resources is not None for one in environments)
    if local and limited:
        yield f"environment.resources of {limited} sessions: the backend local holds nobody to them"
    variables = sum(bool(one.env) for one in environments)
    if not local and variables:
        yield f"environment.env of {variables} sessions: the runtime of the backend command is not given it"


def _backend(plan: SessionPlan, site: LocalBackend) -> LocalBackend | ExternalBackend:
    kind = plan.profile.backend
    if isinstance(kind, CommandBackend):
        return ExternalBackend(kind, site, plan.profile.admission.budget_bytes, plan.folder)
    return site


def _usage(
    found: RunGroup | NoGroup, plan: SessionPlan, backend: LocalBackend | ExternalBackend | None = None
) -> Callable[[], int | None]:
    """What the sessions have in the run's own group and, of a runtime that puts them elsewhere, in theirs."""
    usage = plan.profile.admission.usage
    if isinstance(found, NoGroup):
        return lambda: None
    if not isinstance(backend, ExternalBackend):
        return lambda: found.usage_bytes(usage)

    def all_of_them() -> int | None:
        parts = [found.usage_bytes(usage), *(counters.usage_bytes(one, usage) for one in backend.elsewhere.values())]
        return None if None in parts else sum(part for part in parts if part is not None)

    return all_of_them


async def _adopted(orphans: Orphans, bounds: Bounds, write: Write) -> bool:
    """Ends what no session could be asked for; whether it is gone."""
    if not orphans.adopting:
        return True  # the audit of each session says that it is not known
    left = await orphans.end(bounds.clean_timeout_ns)
    write(audits.orphans_gone(left).record(None, time.monotonic_ns()))
    return not left


def _end(group: RunGroup, write: Write) -> bool:
    """The run's own counters, and its folders; whether they are gone."""
    now = time.monotonic_ns()
    write(counters.read(group.group).record(None, now))
    left = group.group.remove()
    write(audits.cgroup_empty(group.group, False, left).record(None, now))
    return not left
