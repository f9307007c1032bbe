"""SWE-agent's `.traj` files: actions with what they printed, and since version 1 how long each took. No instant at all.

So every wait is missing. Commands go to one shell that remembers; many actions are commands of its editor, which no
other sandbox has. Exit codes are not recorded. An action that was not taken (a blocked one, or one that bash could not
parse) stands there with no output, no time and no state.
"""

from __future__ import annotations

import json
import re
from typing import Any, Final

from perfq.profile.shown import show_text
from perfq.profile.trajectory.fates import Fate
from perfq.profile.trajectory.trajectory import Environment
from perfq.trajectory.importers.actions import MISSING, NO_GAP, Action, Found
from perfq.trajectory.importers.recording import Node, Recording
from perfq.trajectory.importers.shell import changes_directory, editor_command, is_key
from perfq.trajectory.importers.surroundings import surroundings

FORMAT: Final = "swe-agent"
#: What stands for the output of a command that was cancelled, in version 1; and what version 0 adds to its output.
CANCELLED: Final = re.compile(
    r"\A\s*The command .*? was cancelled because it took more than ([0-9]{1,9}(?:\.[0-9]*)?) seconds"
    r"|^EXECUTION TIMED OUT",
    re.DOTALL | re.MULTILINE,
)
_ENDED: Final = re.compile(
    r"\A\s*(?:Exited(?: \(autosubmitted\))?\s*\Z|Environment died unexpectedly|RUNTIME ERROR PROCESS TERMINATED)"
)


def find(recording: Recording) -> Found:
    """The session of a file. Problems are noted in the recording."""
    root = recording.root
    steps = root["trajectory"]
    if not isinstance(steps.value, list):
        steps.problem("a list: a .traj file with the steps of a run (a demonstration has a history alone)")
        recording.refuse_if_flawed()
    config = _config(root["replay_config"])
    limit_s = config["agent"]["tools"]["execution_timeout"].number()
    found = Found(_version(root, steps), recording.stem, [], Environment(session="persistent"))
    for step in steps.items():
        text = step["action"].loose_text()
        if not text.strip():
            found.notes.append((step.path, "a step without an action: a reply that could not be read, or the end"))
            continue
        action = _action(step, limit_s)
        action.before = MISSING if found.actions else NO_GAP
        found.actions.append(action)
    variables = config["agent"]["tools"]["env_variables"]
    found.environment = surroundings(found, workdir=_directory(steps), session="persistent", env=variables)
    return found


def _version(root: Node, steps: Node) -> str:
    """Version 1 writes times; of version 0 nothing says which."""
    said = show_text(root["info"]["swe_agent_version"].loose_text().strip())
    if said:
        return f"{FORMAT}-{said}"[:200]
    timed = any("execution_time" in step for step in steps.items())
    return f"{FORMAT}-1" if timed else f"{FORMAT}-0"


def _action(step: Node, limit_s: float | None) -> Action:
    action = Action(step["action"].path, "ran", step["action"])
    text = step["action"].loose_text()
    seconds = step["execution_time"].number()
    printed = step["observation"].loose_text()
    action.fate = _fate(step, printed)
    cancelled = CANCELLED.search(printed)
    limit = float(cancelled[1]) if cancelled is not None and cancelled[1] else limit_s
    if limit is not None and limit > 0:
        action.timeout_ms = round(limit * 1_000)
    pseudo = editor_command(text)
    if text.strip() == "exit":
        action.fate, action.why = "refused", "the end of the session, which no shell was told"
    elif pseudo is not None:
        action.why = f"a command of SWE-agent's editor ({pseudo}), not of a shell"
    elif is_key(text):
        action.why = "a control key"
    if action.fate in ("ran", "timed_out"):
        action.output = step["observation"].text()
        action.duration_us = None if seconds is None else round(seconds * 1_000_000)
    return action


def _fate(step: Node, printed: str) -> Fate:
    if CANCELLED.search(printed) is not None:
        return "timed_out"
    if _ENDED.search(printed) is not None:
        return "unknown"
    if "execution_time" not in step:
        return "ran" if step["observation"] else "unknown"
    untouched = step["execution_time"].value == 0 and not printed and not step["state"].value
    return "refused" if untouched else "ran"


def _config(node: Node) -> Node:
    """The configuration of the run, which stands there as an object or as the text of one."""
    if not isinstance(node.value, str):
        return node
    value: Any = None
    try:
        value = json.loads(node.value)
    except (ValueError, RecursionError):
        node.problem("a JSON object, or the text of one")
    return Node(value, node.path, node.recording)


def _directory(steps: Node) -> Node | None:
    """The state behind the first action, where that did not change it; an object, or the text of one in version 0."""
    first = steps[0]
    if changes_directory(first["action"].loose_text()):
        return None
    state = first["state"]
    if isinstance(state.value, str):
        try:
            state = Node(json.loads(state.value), state.path, state.recording)
        except (ValueError, RecursionError):
            return None
    return state["working_dir"]
