"""OpenHands V0: an array of events, actions and the observations that they cause (`cause` is the action's `id`).

Commands go to one shell that remembers. Stamps have no time zone, and are those of each event.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from perfq.profile.trajectory.fates import Provenance
from perfq.profile.trajectory.trajectory import Environment
from perfq.trajectory.importers.actions import NO_GAP, Action, Found, gap_between
from perfq.trajectory.importers.openhands_shell import Said, read_result
from perfq.trajectory.importers.recording import Node
from perfq.trajectory.importers.shell import changes_directory, not_a_command
from perfq.trajectory.importers.stamps import Stamp, Stamps, elapsed_us
from perfq.trajectory.importers.surroundings import surroundings

FORMAT: Final = "openhands-v0"
#: Actions that are the harness's own, and those in which a model is asked for something else than an action.
_OWN: Final = frozenset({"system", "start", "null", "change_agent_state"})
_OTHERS: Final = frozenset({"recall", "condensation", "condensation_request"})
#: Actions that end by themselves, with a result or without: they ask nothing of the sandbox either.
_AT_ONCE: Final = frozenset({"finish", "reject", "think", "delegate"})
_HUMAN: Final = frozenset({"message", "pause", "resume", "stop"})
#: What an awaited person leaves behind.
_STATES: Final = frozenset({"awaiting_user_input", "awaiting_user_confirmation", "paused", "user_confirmed"})


@dataclass(slots=True)
class _Batch:
    """Actions of which each was there before the results of those before it, and what lies before the first."""

    events: list[tuple[Node, Node | None]]
    provenance: Provenance
    #: Where the last of their results stands.
    until: int = -1


def find(events: Node, name: str) -> Found:
    """The session of an array of events."""
    found = Found(FORMAT, name, [], Environment(session="persistent"))
    listed = [event for event in events.items() if isinstance(event.value, dict)]
    stamps = Stamps()
    ended: Stamp | None = None
    for batch in _batches(listed):
        actions, done = _actions(batch, stamps)
        first = batch.events[0][0]
        if found.actions:
            reason = "prompt" if batch.provenance == "recorded_with_prompts" else "think"
            actions[0].before = gap_between(ended, actions[0].issued, first, batch.provenance, reason=reason)
        found.actions += actions
        ended = max(done, key=lambda stamp: stamp.us, default=None)
    found.environment = _environment(found, listed)
    return found


def _batches(events: list[Node]) -> list[_Batch]:
    results: dict[object, tuple[int, Node]] = {}
    for number, event in enumerate(events):
        cause = event["cause"].key
        if event["observation"] and cause is not None and event["observation"].value != "null":
            results.setdefault(cause, (number, event))
    batches: list[_Batch] = []
    person = others = False
    for number, event in enumerate(events):
        kind = event["action"].key
        if kind is None or kind in _OWN | _OTHERS | _HUMAN:
            person |= _is_person(event)
            others |= kind in _OTHERS
            continue
        until, result = results.get(event["id"].key, (number, None))
        if not batches or number > batches[-1].until:
            person |= event["source"].value == "user"
            batches.append(_Batch([], "recorded_with_prompts" if person else "derived" if others else "recorded"))
            person = others = False
        batches[-1].events.append((event, result))
        batches[-1].until = max(batches[-1].until, until)
        person |= event["args"]["confirmation_state"].value == "awaiting_confirmation"
    return batches


def _is_person(event: Node) -> bool:
    """Whether a person did something, or was waited for."""
    state = event["extras"]["agent_state"].key if event["observation"].value == "agent_state_changed" else None
    return event["action"].key in _HUMAN or state in _STATES or event["observation"].value == "user_rejected"


def _actions(batch: _Batch, stamps: Stamps) -> tuple[list[Action], list[Stamp]]:
    actions, done = [], []
    for event, result in batch.events:
        kind = event["action"].key
        action = _command(event, result) if kind == "run" else _other(event, result)
        action.before = NO_GAP
        action.issued = stamps.iso(event["timestamp"])
        written = None if result is None else stamps.iso(result["timestamp"])
        waits = event["args"]["confirmation_state"].value == "awaiting_confirmation"
        if written is None and (kind in _AT_ONCE or waits):
            written = action.issued  # it asked nothing of the sandbox
        if written is not None:
            done.append(written)
        if action.issued is not None and written is not None and result is not None:
            took_us = elapsed_us(action.issued, written, result)
            action.duration_us = took_us if len(batch.events) == 1 else None
        actions.append(action)
    return actions, done


def _other(event: Node, result: Node | None) -> Action:
    kind = event["action"].loose_text()
    state = event["args"]["confirmation_state"].value
    if state == "rejected" or (result is not None and result["observation"].value == "user_rejected"):
        return Action(event.path, "rejected")
    if result is None and kind not in _AT_ONCE:
        return Action(event.path, "unknown")
    if result is not None and result["observation"].value == "error":
        return Action(event.path, "refused")
    return Action(event.path, "ran", why=f"not a shell command ({kind})")


def _command(event: Node, result: Node | None) -> Action:
    arguments = event["args"]
    action = Action(event.path, "unknown", arguments["command"])
    seconds = event["timeout"].number()
    action.timeout_ms = None if seconds is None or seconds <= 0 else round(seconds * 1_000)
    said = _said(arguments["confirmation_state"].value, result)
    action.fate, action.exit_code = said.fate, said.exit_code
    if said.limit is not None:
        action.timeout_ms = max(1, round(said.limit * 1_000))
        action.exit_code = None
    if arguments["command"]:
        action.why = not_a_command(arguments["command"].loose_text(), is_input=arguments["is_input"].truth())
    if action.why is None and said.fate == "never_executed":
        action.why = "it waited for a person; once confirmed it stands again"
    if result is not None and said.fate in ("ran", "timed_out"):
        action.output = result["content"].text()
    return action


def _said(state: object, result: Node | None) -> Said:
    if state == "rejected" or (result is not None and result["observation"].value == "user_rejected"):
        return Said("rejected")
    if result is None:
        return Said("never_executed" if state == "awaiting_confirmation" else "unknown")
    content = result["content"].loose_text()
    if result["observation"].value != "run":
        return read_result(None, content)
    extras = result["extras"]
    code = extras["metadata"]["exit_code"] or extras["exit_code"]
    return read_result(code.integer(), extras["metadata"]["suffix"].loose_text() or content)


def _environment(found: Found, events: list[Node]) -> Environment:
    """The directory is that of the first result, where its command did not change it."""
    first = next((action for action in found.actions if action.script is not None), None)
    results = (event for event in events if event["observation"].value == "run")
    result = next(results, None)
    workdir = None
    if first is not None and result is not None and first.script and not changes_directory(first.script.loose_text()):
        workdir = result["extras"]["metadata"]["working_dir"]
    return surroundings(found, workdir=workdir, session="persistent")
