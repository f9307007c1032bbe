"""OpenHands: where the events of a recording stand, and whether they are V0's or V1's.

An array of events, JSON lines of events, an object with `trajectory`, `history` or `events`, or the lines of an
evaluation (`output.jsonl`), each of which is a session of its own.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from perfq.trajectory.importers import openhands_v0, openhands_v1
from perfq.trajectory.importers.actions import Found
from perfq.trajectory.importers.recording import Node, Recording

LISTS: Final = ("history", "trajectory", "events")


def is_event(value: Any) -> bool:
    """Whether a value is an event of either version."""
    return isinstance(value, dict) and (is_v1(value) or "action" in value or "observation" in value)


def is_v1(value: Any) -> bool:
    """Whether an event is one of V1."""
    return isinstance(value, dict) and isinstance(value.get("kind"), str) and "source" in value


def find(recording: Recording) -> Iterator[Found]:
    """The sessions of a file."""
    for events, name in _sessions(recording.root, recording.stem):
        first = next((event.value for event in events.items() if isinstance(event.value, dict)), None)
        version = openhands_v1 if is_v1(first) else openhands_v0
        yield version.find(events, name)


def _sessions(root: Node, stem: str) -> Iterator[tuple[Node, str]]:
    if isinstance(root.value, dict):
        yield _within(root), _name(root, stem)
        return
    if not isinstance(root.value, list) or not root.value:
        root.problem("events")
        return
    if any(is_event(value) for value in root.value):
        yield root, stem
        return
    for number, session in enumerate(root.items()):
        yield _within(session), _name(session, f"{stem}-{number}")


def _within(node: Node) -> Node:
    """The events of an object; those of older evaluations come as pairs of an action and what it led to."""
    key = next((key for key in LISTS if isinstance(node[key].value, list)), None)
    if key is None:
        if is_event(node.value):
            return Node([node.value], node.path, node.recording)
        node.problem("events, or an object with history, trajectory or events")
        return Node([], node.path, node.recording)
    events = node[key]
    if events.value and all(isinstance(item, list) for item in events.value):
        flat = [event for pair in events.value for event in pair]
        return Node(flat, events.path, node.recording)
    return events


def _name(node: Node, otherwise: str) -> str:
    for key in ("instance_id", "conversation_id", "id"):
        if isinstance(node[key].value, str) and node[key].value:
            return str(node[key].value)
    return otherwise
