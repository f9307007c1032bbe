"""mini-swe-agent: what became of the actions of a message, from its results and from what ended it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from perfq.profile.trajectory.fates import Fate
from perfq.trajectory.importers.actions import NO_GAP, Action
from perfq.trajectory.importers.recording import Node
from perfq.trajectory.importers.stamps import Stamp, Stamps, elapsed_us

NOT_EXECUTED: Final = "action was not executed"
MARKER: Final = "COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT"
_TIMEOUTS: Final = frozenset({"TimeoutExpired", "TimeoutError", "CommandTimeoutError"})
#: What the system says where a command cannot even be started.
_NOT_STARTED: Final = frozenset({"OSError", "FileNotFoundError", "PermissionError", "NotADirectoryError", "ValueError"})


@dataclass(slots=True)
class Turn:
    """A message with actions, and all messages until the next one."""

    message: Node
    actions: list[Node]
    behind: list[Node] = field(default_factory=list)


def turns_of(messages: Node) -> list[Turn]:
    """All messages that name actions, each with what follows it."""
    turns: list[Turn] = []
    for message in messages.items():
        actions = list(message["extra"]["actions"].items())
        if actions:
            turns.append(Turn(message, actions))
        elif turns:
            turns[-1].behind.append(message)
    return turns


def interruptions(behind: list[Node]) -> set[str]:
    """What lies between the results of a turn and the next one."""
    return {message["extra"]["interrupt_type"].loose_text() for message in behind} - {""}


def actions_of(turn: Turn, stamps: Stamps, *, attended: bool) -> tuple[list[Action], list[Stamp]]:
    """The actions of a turn with their fates, and the instants of its results."""
    results = _results(turn)
    issued = stamps.epoch(turn.message["extra"]["timestamp"])
    written = [stamp for node in results if node and (stamp := stamps.epoch(node["extra"]["timestamp"])) is not None]
    alone = len(turn.actions) == 1 and not attended
    actions = []
    for node, result in zip(turn.actions, results, strict=True):
        action = Action(node.path, _fate(result), node["command"], issued=issued)
        extra = result["extra"]
        if action.fate == "ran":
            action.exit_code = extra["returncode"].integer()
        if action.fate in ("ran", "timed_out"):
            action.output = extra["raw_output"].text()
        if alone and issued is not None and written:
            action.duration_us = elapsed_us(issued, written[0], result)
        action.before = NO_GAP
        actions.append(action)
    _not_written_down(turn, actions, results)
    return actions, written


def _results(turn: Turn) -> list[Node]:
    """The result of each action, by its id; without ids only where there is one of each. Absent ones are empty."""
    by_id: dict[object, Node] = {}
    plain = []
    for message in turn.behind:
        said = (message["tool_call_id"] or message["call_id"]).key
        if said is not None:
            by_id.setdefault(said, message)
        elif "returncode" in message["extra"]:
            plain.append(message)
    absent = Node(None, turn.message.path, turn.message.recording)
    if len(turn.actions) == 1 and not turn.actions[0]["tool_call_id"] and len(plain) == 1 and not by_id:
        return plain
    wanted = [action["tool_call_id"].key for action in turn.actions]
    return [by_id.get(one, absent) if one is not None and wanted.count(one) == 1 else absent for one in wanted]


def _fate(result: Node) -> Fate:
    """From the result alone."""
    if not result:
        return "unknown"
    extra = result["extra"]
    cause = extra["exception_info"].loose_text()
    kind = extra["exception_type"].loose_text()
    code = extra["returncode"].integer()
    if not cause:
        return "unknown" if code is None else "ran"  # a negative code is then that of a signal
    if cause == NOT_EXECUTED:
        return "never_executed"
    if kind in _TIMEOUTS or (not kind and "timed out after" in cause):
        return "timed_out"
    return "never_executed" if kind in _NOT_STARTED else "unknown"


def _not_written_down(turn: Turn, actions: list[Action], results: list[Node]) -> None:
    """The fates of a batch that ended in its middle: from what ended it."""
    stop = next((message for message in turn.behind if message["role"].value == "exit"), None)
    submitted = stop is not None and stop["extra"]["exit_status"].value == "Submitted"
    if submitted and not any(results):
        _submitted(actions)
        return
    left = [
        action for action, result in zip(actions, results, strict=True) if result and action.fate == "never_executed"
    ]
    padded = [one for one, result in zip(actions, results, strict=True) if _is_padding(result) and one in left]
    if not padded:
        return
    interrupts = interruptions(turn.behind)
    said = " ".join(_content(message) for message in turn.behind if message["extra"]["interrupt_type"])
    if "UserRejection" in interrupts:
        for action in padded:
            action.fate = "rejected"
    elif submitted or "UserNewTask" in interrupts or said.startswith("Switched to human mode"):
        padded[0].fate, padded[0].exit_code = "ran", 0
        padded[0].output = None
    elif interrupts:
        padded[0].fate = "unknown"
        padded[0].why = "a person interrupted it, or before it began"


def _is_padding(result: Node) -> bool:
    return bool(result) and result["extra"]["exception_info"].loose_text() == NOT_EXECUTED


def _submitted(actions: list[Action]) -> None:
    """A session that has submitted: it ended in the middle of this batch, and nothing of the batch was written down."""
    marked = [n for n, action in enumerate(actions) if action.script and MARKER in action.script.loose_text()]
    last = 0 if len(actions) == 1 else marked[0] if len(marked) == 1 else None
    for number, action in enumerate(actions):
        if last is None:
            # One of them submitted, and it cannot be told which; the first one did run.
            action.fate = "ran" if number == 0 else "unknown"
        else:
            action.fate = "ran" if number <= last else "never_executed"
            action.exit_code = 0 if number == last else None


def _content(message: Node) -> str:
    content = message["content"]
    if isinstance(content.value, list):
        return " ".join(part["text"].loose_text() for part in content.items())
    return content.loose_text()
