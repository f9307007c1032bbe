"""Why a field of replayed sessions' result is null: one warning for each, with its JSON pointer."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from perfq.measure.nulls import null_fields
from perfq.measure.result.common import Processes, ResultWarning
from perfq.measure.result.trajectory import Trajectory
from perfq.measure.trajectory.manifest import TrajectoryManifest

_NEEDS_COUNTERS: Final = "the sessions ran in no cgroup of their own, so that the kernel counted nothing for them"


def reasons(manifest: TrajectoryManifest, process: Processes, block: Trajectory) -> Iterator[ResultWarning]:
    """A warning for each null."""
    pointers = [
        *null_fields("/process", process.plain(), ()),
        "/api",
        *null_fields("/trajectory", block.plain(), ("/trajectory/timeline",)),
    ]
    for pointer in pointers:
        yield ResultWarning(code="unknown", text=_why(pointer, manifest, block), field=pointer)


def _why(pointer: str, manifest: TrajectoryManifest, block: Trajectory) -> str:
    if pointer == "/api":
        return "it is the account of a client under test, and sessions have none"
    if pointer == "/process/client":
        return "sessions have no client under test"
    if pointer.startswith("/process"):
        return "too few samples of this process"
    if pointer.startswith("/trajectory/sampling"):
        return _of_sampling(pointer, manifest)
    if pointer.startswith("/trajectory/pressure_ns"):
        off = manifest.sessions.sampling == "off"
        return "sampling was off" if off else "this kernel does not say (no /proc/pressure), or the run was cut short"
    if pointer == "/trajectory/memory_bytes/mean":
        off = manifest.sessions.sampling == "off"
        return "sampling was off" if off else "no sample of a session's memory was taken"
    if pointer.startswith(("/trajectory/memory_bytes", "/trajectory/cpu_seconds")):
        return _NEEDS_COUNTERS
    if pointer.startswith("/trajectory/waits/"):
        return _of_waits(pointer, block)
    if pointer.endswith("/p99"):
        return "p99 needs 100 samples"
    return "the run was cut short" if pointer == "/trajectory/makespan_ns" else "no session came to that"


def _of_sampling(pointer: str, manifest: TrajectoryManifest) -> str:
    if manifest.sessions.sampling == "off":
        return "sampling was off"
    if pointer == "/trajectory/sampling":
        return "no sample was recorded"
    return "p99 needs 100 samples" if pointer.endswith("/p99") else "it was not recorded"


def _of_waits(pointer: str, block: Trajectory) -> str:
    if not block.waits.count:
        return "no wait came to its end"
    paused = block.waits.pause_ns if "/pause_ns" in pointer else block.waits.resume_ns
    if ("/pause_ns" in pointer or "/resume_ns" in pointer) and paused.max is None:
        return "no wait paused its sandbox"
    return "p99 needs 100 samples"
