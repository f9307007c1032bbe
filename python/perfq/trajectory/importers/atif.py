"""ATIF, the Agent Trajectory Interchange Format of Harbor, versions 1.0 to 1.7.

A step holds an answer of the model, its tool calls and their results, and has one stamp. Results name their call
(`source_call_id`). So how long a command ran is not known; and from one step's stamp to the next is the command's own
time and the wait behind it, which makes every wait a derived one. What else is known of an agent: terminus stamps a
step after its pauses, whose lengths it writes down; the steps of SWE-agent are stamped when they are converted.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from perfq.profile.trajectory.fates import Provenance
from perfq.profile.trajectory.trajectory import Environment
from perfq.trajectory.importers.actions import MISSING, NO_GAP, Action, Found, Gap, gap_between
from perfq.trajectory.importers.atif_terminal import MAX_PAUSE_S, Typed, fates_of
from perfq.trajectory.importers.atif_tools import read, remembers, script_of, shell_tool, text_of
from perfq.trajectory.importers.mini_swe_agent_turns import MARKER
from perfq.trajectory.importers.recording import Node, Recording
from perfq.trajectory.importers.shell import editor_command, not_a_command
from perfq.trajectory.importers.stamps import Stamp, Stamps
from perfq.trajectory.importers.surroundings import surroundings

VERSIONS: Final = tuple(f"ATIF-v1.{minor}" for minor in range(8))
_TERMINAL: Final = "terminus"
#: Agents whose steps Harbor stamps when it converts them, long after they happened.
_CONVERTED: Final = frozenset({"swe-agent"})


@dataclass(slots=True)
class _Session:
    """One pass over the steps."""

    agent: str
    found: Found
    stamps: Stamps
    #: Each action's call.
    calls: list[tuple[Action, Node]] = field(default_factory=list)
    #: Of the step with calls before this one.
    last: Stamp | None = None
    person: bool = False
    others: bool = False

    @property
    def terminal(self) -> bool:
        return self.agent.startswith(_TERMINAL)


def find(recording: Recording) -> Found:
    """The session of a file. Problems are noted in the recording."""
    root = recording.root
    version = root["schema_version"]
    if version.value not in VERSIONS:
        version.problem(f"{VERSIONS[0]} to {VERSIONS[-1]}")
        recording.refuse_if_flawed()
    agent = root["agent"]["name"].text() or ""
    name = root["session_id"].text() or root["trajectory_id"].text() or recording.stem
    found = Found(version.value.replace("ATIF-v", "atif-"), name, [], Environment())
    session = _Session(agent, found, Stamps())
    for step in root["steps"].items():
        _step(session, step)
    if session.terminal:
        _read_screens(found, root["steps"])
    _submitted(session)
    _environment(session, root)
    _note(session, root)
    return found


def _step(session: _Session, step: Node) -> None:
    if step["is_copied_context"].truth():
        session.found.notes.append((step.path, "a step copied from another recording, where it happened"))
        return
    calls = list(step["tool_calls"].items())
    if step["source"].value != "agent" or not calls:
        session.person |= step["source"].value == "user"
        session.others |= step["source"].value != "user"
        return
    stamp = None if session.agent in _CONVERTED else session.stamps.iso(step["timestamp"])
    pauses_us = _pauses_us(calls) if session.terminal else 0
    issued = None if stamp is None else Stamp(stamp.us - pauses_us, stamp.path)
    gap = _gap(session, step, issued)
    for number, call in enumerate(calls):
        action = _call(session, call, _result(step, call, alone=len(calls) == 1))
        action.before = gap if number == 0 else NO_GAP
        action.issued = issued
        session.found.actions.append(action)
        session.calls.append((action, call))
    session.last, session.person, session.others = stamp, False, False


def _gap(session: _Session, step: Node, issued: Stamp | None) -> Gap:
    if not session.found.actions:
        return NO_GAP
    if session.agent in _CONVERTED:
        return MISSING
    provenance: Provenance = "recorded_with_prompts" if session.person else "derived"
    reason = "prompt" if session.person else "think"
    return gap_between(session.last, issued, step, provenance, reason=reason)


def _pauses_us(calls: list[Node]) -> int:
    """How long terminus waited after its keystrokes, before it stamped the step."""
    seconds = (call["arguments"]["duration"].number() or 0 for call in calls)
    return sum(round(min(max(one, 0), MAX_PAUSE_S) * 1_000_000) for one in seconds)


def _result(step: Node, call: Node, *, alone: bool) -> Node:
    """The result that names this call; one that names none only where there is one of each."""
    results = list(step["observation"]["results"].items())
    wanted = call["tool_call_id"].key
    named = [one for one in results if wanted is not None and one["source_call_id"].key == wanted]
    if named:
        return named[0]
    if alone and len(results) == 1 and not results[0]["source_call_id"]:
        return results[0]
    return Node(None, call.path, call.recording)


def _call(session: _Session, call: Node, result: Node) -> Action:
    function = call["function_name"].text() or ""
    arguments = call["arguments"]
    if session.terminal and "keystrokes" in arguments:
        return Action(call.path, "unknown", arguments["keystrokes"])  # read from the screens, once all are there
    tool = shell_tool(session.agent, function)
    if tool is None:
        return Action(
            call.path, "ran" if result else "unknown", why=f"not a known tool that runs commands ({function})"
        )
    script, why = script_of(tool, arguments)
    said = read(tool, result)
    action = Action(call.path, said.fate, script, why, exit_code=said.exit_code)
    limit = arguments[tool.limit].number() if tool.limit is not None else None
    if said.limit is not None:
        action.timeout_ms = round(said.limit * 1_000)
    elif limit is not None and limit > 0:
        action.timeout_ms = round(limit * tool.unit_ms)
    if arguments["run_in_background"].truth() and said.fate == "ran":
        action.fate = "still_running"
    text = script.loose_text()
    action.why = action.why or not_a_command(text, is_input=arguments["is_input"].truth())
    if tool.reader == "swe-agent" and (pseudo := editor_command(text)) is not None:
        action.why = f"a command of SWE-agent's editor ({pseudo}), not of a shell"
    if said.fate in ("ran", "timed_out"):
        action.output = text_of(result)
    return action


def _read_screens(found: Found, steps: Node) -> None:
    """The fates of all keystrokes, from the screens."""
    screens = {
        step.path: "".join(text_of(one) for one in step["observation"]["results"].items()) for step in steps.items()
    }
    typed = [action for action in found.actions if action.script is not None]
    said = fates_of(
        [Typed(action.script.loose_text() if action.script else "", screens[action.at[:2]]) for action in typed]
    )
    for action, (fate, why) in zip(typed, said, strict=True):
        action.fate, action.why = fate, why


def _submitted(session: _Session) -> None:
    """mini-swe-agent's last command, which submits, stands as not executed: it ended the session as it ran."""
    last = session.found.actions[-1] if session.found.actions else None
    if last is None or not session.agent.startswith("mini-swe-agent") or last.fate != "never_executed":
        return
    if last.script is not None and MARKER in last.script.loose_text():
        last.fate, last.exit_code, last.output = "ran", 0, None


def _environment(session: _Session, root: Node) -> None:
    found = session.found
    keeps = remembers(session.agent)
    if keeps is None:
        found.notes.append(
            (root["agent"]["name"].path, "whether its shell remembers is not known; each command has its own")
        )
    directories = list(_directories(session, root))
    for action, node in directories:
        if action is not None and node.value != directories[0][1].value:
            action.why = action.why or "in another directory than the first command"
    workdir = directories[0][1] if directories else None
    found.environment = surroundings(found, workdir=workdir, session="persistent" if keeps else "stateless")


def _directories(session: _Session, root: Node) -> Iterator[tuple[Action | None, Node]]:
    """The directory of each command, where its tool says one; else that of the agent."""
    said = False
    for action, call in session.calls:
        tool = shell_tool(session.agent, call["function_name"].loose_text())
        if tool is not None and tool.directory is not None and call["arguments"][tool.directory]:
            said = True
            yield action, call["arguments"][tool.directory]
    if not said and root["agent"]["extra"]["cwds"].value:
        yield None, root["agent"]["extra"]["cwds"][0]


def _note(session: _Session, root: Node) -> None:
    notes = session.found.notes
    if session.agent in _CONVERTED:
        notes.append(
            (root["agent"]["name"].path, "its steps were stamped when they were converted, not when they happened")
        )
    if root["continued_trajectory_ref"]:
        notes.append((root["continued_trajectory_ref"].path, "the session goes on in another file"))
    for child in root["subagent_trajectories"].items():
        notes.append((child.path, f"the session of a subagent, with {len(list(child['steps'].items()))} steps"))
