"""`--allocations`: a second run of the same request whose client traces its allocations, linked to the first.

Tracing changes timing, so the first run is as it would be without, and the second has no budgets.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from perfq.errors import UsageError

if TYPE_CHECKING:
    from perfq.profile.client import ClientDefinition
    from perfq.replay.options import ReplayOptions

#: The second run's directory inside the first one's.
DIRECTORY: Final = "allocations"
#: What has Python trace: one frame of each allocation, the line of source that made it.
TRACING: Final = {"PYTHONTRACEMALLOC": "1"}
_SUFFIX: Final = "-alloc"


def refuse_untraceable(client: ClientDefinition, times: int) -> None:
    """UsageError where no allocation growth could come of it."""
    if times > 1:
        raise UsageError("--allocations: traces one run; leave out --repeat")
    if not client.probe:
        raise UsageError(
            f"--allocations: client {client.name!r} has no probe, which its figures come through; "
            "use the viewer, or a definition with `probe: true` (docs/reference/probe.md)"
        )


def first_run(options: ReplayOptions) -> ReplayOptions:
    """The run as asked for, with the name of the one that follows."""
    return replace(options, linked_run=DIRECTORY)


def traced_run(options: ReplayOptions) -> ReplayOptions:
    """The second run."""
    return replace(
        options,
        out=options.out / DIRECTORY,
        run_id=options.run_id[: 40 - len(_SUFFIX)] + _SUFFIX,
        budgets=(),
        profiler=None,
        allocations=True,
        linked_run="..",
    )
