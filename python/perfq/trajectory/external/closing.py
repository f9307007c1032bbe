"""The end of a sandbox: its counters, stop_argv, and whether anything of it is still there."""

from __future__ import annotations

import asyncio
import time
from typing import Final

from perfq.profile.trajectory.profile import CommandBackend
from perfq.trajectory import audits
from perfq.trajectory.cgroup import counters
from perfq.trajectory.external.answer import Found
from perfq.trajectory.external.inside import inside
from perfq.trajectory.external.runtime import Runtime, failure
from perfq.trajectory.local.clearing import Closed, clear, memory_audits
from perfq.trajectory.local.sandbox import LocalBackend
from perfq.trajectory.process import Process

_LOOK_S: Final = 0.02


async def close(profile: CommandBackend, site: LocalBackend, n: int, runtime: Runtime, found: Found | None) -> Closed:
    """What is still there, in words, and the audits; the journal knows afterwards whether it is gone."""
    counted = None if found is None or found.group is None else counters.read(found.group)
    why = failure("stop_argv", await runtime.run("stop", profile.stop_argv))
    running = [] if found is None else await _gone(found, site.bounds.clean_timeout_ns)
    closed = await clear(site.commands, runtime.what, site.bounds)
    left = [f"process {one.pid} still runs in the sandbox" for one in running] + closed.left
    if why is not None and (running or (found is not None and not found.provable)):
        left.append(why)
    if not left:
        site.journal.gone(n)
    found_now = {audit.name: audit for audit in closed.audits}
    if found is not None:
        found_now["processes_gone"] = audits.sandbox_gone([*running, *closed.running], found.provable, why)
    if found is not None and found.group is not None:
        found_now.update((audit.name, audit) for audit in memory_audits(runtime.what, counted))
    return Closed(left, counted or closed.counters, list(found_now.values()), closed.running)


async def _gone(found: Found, within_ns: int) -> list[Process]:
    """What still runs in it at the end of that time."""
    until_ns = time.monotonic_ns() + within_ns
    loop = asyncio.get_running_loop()
    while (running := await loop.run_in_executor(None, inside, found)) and time.monotonic_ns() < until_ns:
        await asyncio.sleep(_LOOK_S)
    return sorted(running)
