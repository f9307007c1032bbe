"""From the start of the process to a full table."""

from __future__ import annotations

from perfq.measure.recording import Recording
from perfq.measure.result.replay import Start

PODS = "pods"


def populated_at(recording: Recording, objects: int) -> int | None:
    """When every row was in the client's table, by its own word; None where it never said so."""
    return next(
        (one.t for one in recording.probe.populated if one.kind == PODS and (one.rows is None or one.rows >= objects)),
        None,
    )


def screen_at(recording: Recording, event: str) -> int | None:
    """When the terminal first showed `ready` or `populated`."""
    return next((one.t for one in recording.screens if one.ev == event), None)


def start_figures(recording: Recording, objects: int) -> Start:
    """Interactive is the client's own word where it has a probe, else its first ready screen."""
    spawned = recording.mark("spawned")
    interactive = recording.probe.interactive or recording.mark("interactive") or screen_at(recording, "ready")
    populated = populated_at(recording, objects)
    listed = _list_written(recording, populated)
    return Start(
        interactive_ns=_between(spawned, interactive),
        list_to_populated_ns=_between(listed, populated),
        populated_screen_ns=_between(spawned, screen_at(recording, "populated")),
    )


def _list_written(recording: Recording, before: int | None) -> int | None:
    """When the last page of the first Pod LIST had been written, by the server's clock; the client's own
    `list_complete` where no server of ours saw it, or where it came first (the server stamps after its
    write has returned, and the client may be faster than that)."""
    if before is None:
        return None
    pages = [
        one.done
        for one in recording.requests
        if one.verb == "list" and one.kind == PODS and not one.group and one.status < 400 and not one.more
    ]
    said = [one.t for one in recording.probe.lists if one.kind == PODS]
    return min((*pages[:1], *said[:1]), default=None)


def _between(begin: int | None, end: int | None) -> int | None:
    return None if begin is None or end is None or end < begin else end - begin
