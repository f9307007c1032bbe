"""OpenHands V1 (its software-agent SDK): events with a `kind`; results name their action (`action_id`, `tool_call_id`).

Actions of one answer of the model share `llm_response_id`: they came at once and may have run side by side, so that
none of them has a duration of its own, and the wait begins behind the last result of all of them.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from perfq.profile.trajectory.fates import Provenance
from perfq.profile.trajectory.trajectory import Environment
from perfq.trajectory.importers.actions import NO_GAP, Action, Found, gap_between
from perfq.trajectory.importers.openhands_shell import Said, read_result
from perfq.trajectory.importers.recording import Node
from perfq.trajectory.importers.shell import changes_directory, not_a_command
from perfq.trajectory.importers.stamps import Stamp, Stamps, elapsed_us
from perfq.trajectory.importers.surroundings import surroundings

FORMAT: Final = "openhands-v1"
_SHELL: Final = frozenset({"TerminalAction", "ExecuteBashAction", "BashAction"})
_RESULTS: Final = frozenset({"ObservationEvent", "UserRejectObservation", "AgentErrorEvent"})
_PERSON: Final = frozenset({"MessageEvent", "PauseEvent", "InterruptEvent"})
_OTHERS: Final = frozenset({"CondensationRequest", "Condensation", "CondensationSummaryEvent", "HookExecutionEvent"})


@dataclass(slots=True)
class _Batch:
    """The actions of one answer, and what happened between the results before it and its first action."""

    events: list[Node]
    provenance: Provenance
    #: A person was asked before they were run.
    asked: bool = False


@dataclass(slots=True)
class _Walk:
    """One pass over the events."""

    by_action: dict[object, Node] = field(default_factory=dict)
    by_call: dict[object, Node] = field(default_factory=dict)
    batches: list[_Batch] = field(default_factory=list)


def find(events: Node, name: str) -> Found:
    """The session of an array of events."""
    found = Found(FORMAT, name, [], Environment(session="persistent"))
    listed = [event for event in events.items() if isinstance(event.value, dict)]
    walk = _walk(listed)
    stamps = Stamps()
    ended: Stamp | None = None
    for batch in walk.batches:
        actions, done = _actions(batch, walk, stamps)
        if found.actions:
            reason = "prompt" if batch.provenance == "recorded_with_prompts" else "think"
            first = batch.events[0]
            actions[0].before = gap_between(ended, actions[0].issued, first, batch.provenance, reason=reason)
        found.actions += actions
        ended = max(done, key=lambda stamp: stamp.us, default=None)
    found.environment = _environment(found, walk)
    return found


def _walk(events: list[Node]) -> _Walk:
    walk = _Walk()
    person = others = False
    for event in events:
        kind = event["kind"].key
        if kind in _RESULTS:
            if event["action_id"].key is not None:
                walk.by_action.setdefault(event["action_id"].key, event)
            elif event["tool_call_id"].key is not None:
                walk.by_call.setdefault(event["tool_call_id"].key, event)
            person |= kind == "UserRejectObservation" and event["rejection_source"].value != "hook"
        elif kind == "ActionEvent":
            response = event["llm_response_id"].value
            last = walk.batches[-1].events[-1] if walk.batches else None
            if last is not None and response and last["llm_response_id"].value == response:
                walk.batches[-1].events.append(event)
                continue
            provenance: Provenance = "recorded_with_prompts" if person else "derived" if others else "recorded"
            walk.batches.append(_Batch([event], provenance))
            person = others = False
        elif walk.batches and event["value"].value == "waiting_for_confirmation":  # ConversationStateUpdateEvent
            walk.batches[-1].asked = True
        person |= kind in _PERSON
        others |= kind in _OTHERS
    return walk


def _actions(batch: _Batch, walk: _Walk, stamps: Stamps) -> tuple[list[Action], list[Stamp]]:
    actions, done = [], []
    for event in batch.events:
        result = _result(event, walk)
        action = _command(event, result) if event["action"]["kind"].key in _SHELL else _other(event, result)
        action.issued = stamps.iso(event["timestamp"])
        action.before = NO_GAP
        written = None if result is None else stamps.iso(result["timestamp"])
        if written is not None:
            done.append(written)
        if action.issued is not None and written is not None and result is not None:
            took_us = elapsed_us(action.issued, written, result)
            action.duration_us = took_us if len(batch.events) == 1 and not batch.asked else None
        actions.append(action)
    return actions, done


def _result(event: Node, walk: _Walk) -> Node | None:
    """The result that names this action, by its id or that of its call; an action without ids has none."""
    by_id = walk.by_action.get(event["id"].key)
    return walk.by_call.get(event["tool_call_id"].key) if by_id is None else by_id


def _other(event: Node, result: Node | None) -> Action:
    tool = event["tool_name"].loose_text() or "no name"
    if not event["action"]:
        return Action(event.path, "refused")
    if result is None:
        return Action(event.path, "unknown")
    if result["kind"].value == "UserRejectObservation":
        return Action(event.path, "rejected")
    if result["kind"].value == "AgentErrorEvent":
        return Action(event.path, "unknown")
    return Action(event.path, "ran", why=f"not a shell command ({tool})")


def _command(event: Node, result: Node | None) -> Action:
    arguments = event["action"]
    action = Action(event.path, "unknown", arguments["command"])
    seconds = arguments["timeout"].number()
    action.timeout_ms = None if seconds is None or seconds <= 0 else round(seconds * 1_000)
    said = _said(result)
    action.fate, action.exit_code = said.fate, said.exit_code
    if said.limit is not None:
        action.timeout_ms = max(1, round(said.limit * 1_000))
    action.reset = arguments["reset"].truth() and said.fate not in ("rejected", "refused")
    text = arguments["command"].loose_text()
    if arguments["command"]:
        action.why = not_a_command(text, is_input=arguments["is_input"].truth())
    if action.reset and not text.strip():
        action.why = "a reset of the shell: the next command begins with a new one"
    if result is not None and said.fate in ("ran", "timed_out"):
        action.output = _output(result["observation"])
    return action


def _said(result: Node | None) -> Said:
    if result is None:
        return Said("unknown")
    if result["kind"].value == "UserRejectObservation":
        return Said("rejected")
    if result["kind"].value == "AgentErrorEvent":
        return read_result(None, result["error"].loose_text())
    observation = result["observation"]
    code = observation["exit_code"] or observation["metadata"]["exit_code"]
    if observation["is_error"].truth() and observation["exit_code"].value is None:
        code = observation["exit_code"]
    behind = observation["metadata"]["suffix"].loose_text() or _output(observation) or ""
    return read_result(code.integer(), behind, is_error=observation["is_error"].truth())


def _output(observation: Node) -> str | None:
    """The text of the parts of a result; in older versions one text."""
    content = observation["content"] or observation["output"]
    if isinstance(content.value, list):
        return "".join(part["text"].loose_text() for part in content.items())
    return content.text()


def _environment(found: Found, walk: _Walk) -> Environment:
    """The directory is that of the first result, where its command did not change it."""
    events = (event for batch in walk.batches for event in batch.events if event["action"]["kind"].key in _SHELL)
    first = next(events, None)
    workdir = None
    if first is not None and not changes_directory(first["action"]["command"].loose_text()):
        result = walk.by_action.get(first["id"].key)
        workdir = None if result is None else result["observation"]["metadata"]["working_dir"]
    return surroundings(found, workdir=workdir, session="persistent")
