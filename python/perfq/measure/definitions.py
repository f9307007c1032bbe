"""What each latency is, in the words that stand beside its figures."""

from __future__ import annotations

from typing import Final

from perfq.measure.result.common import LatencyName

DEFINITIONS: Final[dict[LatencyName, str]] = {
    "response": "done − due",
    "service": "done − sent",
    "order_wait": "waiting for the former request on the same object",
    "slot_wait": "waiting for a connection, stream or in-flight slot",
    "lag": "sent − due − order_wait − slot_wait: the generator's own",
    "ttfb": "sent → first byte of the answer",
    "commit_lag": "committed in the server − due: the harness's own",
    "event_to_written": "committed → the server's write to the client's connection returned",
    "event_to_client": "committed → read by the client (its own word)",
    "event_to_render": "read by the client → its cells are in the table and the frame after that was flushed "
    "(its own word); a coalesced update runs from its own receipt",
    "commit_to_render": "committed → rendered, as in event_to_render",
    "event_to_screen": "probe event committed → its number is the whole cell on the terminal; "
    "one that was never seen counts with the time that was waited for it",
    "event_to_diff": "read by the client → its handler returned, where no cell changes",
    "input": "key written → the cursor is seen on its new row, while events flow; "
    "a key without effect counts with the time-out",
}

#: What a person in front of the client feels, from what to what; the others say where that time went.
FELT: Final[dict[LatencyName, str]] = {
    "event_to_screen": "change to screen",
    "input": "key to cursor",
}

#: The latencies of a replay, in the order in which reports show them.
REPLAY_LATENCIES: Final[tuple[LatencyName, ...]] = (
    "commit_lag",
    "event_to_written",
    "event_to_client",
    "event_to_render",
    "commit_to_render",
    "event_to_screen",
    "event_to_diff",
    "input",
)
