"""mini-swe-agent 2, whose files say `trajectory_format: mini-swe-agent-1.1`.

Each message of the model holds its actions (`extra.actions`) and the instant at which it came; the results follow as
messages with the instant at which all of them were written, after the last. So the time between is a command's own only
where it was alone, and the wait begins behind the last result. Every command is given to a new shell.

A result of -1 has several causes, which `extra.exception_info` and what follows tell apart. Of the batch in which a
session submits its work nothing is written down (default agent), or the submitting command stands as not executed
(interactive agent).
"""

from __future__ import annotations

from typing import Final

from perfq.profile.trajectory.fates import Provenance
from perfq.profile.trajectory.trajectory import Environment
from perfq.trajectory.importers.actions import NO_GAP, Found, Gap, gap_between
from perfq.trajectory.importers.mini_swe_agent_turns import actions_of, interruptions, turns_of
from perfq.trajectory.importers.recording import Node, Recording
from perfq.trajectory.importers.stamps import Stamp, Stamps
from perfq.trajectory.importers.surroundings import argument, surroundings

FORMAT: Final = "mini-swe-agent-1.1"
_PREFIX: Final = "mini-swe-agent-"
#: Agents that no person can step into.
_UNATTENDED: Final = frozenset({"DefaultAgent", "ProgressTrackingAgent"})
_INTERACTIVE: Final = "InteractiveAgent"
#: The shell of each environment, by the name of its class; each may say another one.
_SHELLS: Final = {
    "LocalEnvironment": ["/bin/sh", "-c"],
    "SwerexDockerEnvironment": ["/bin/sh", "-c"],
    "SwerexModalEnvironment": ["/bin/sh", "-c"],
    "DockerEnvironment": ["bash", "-lc"],
    "SingularityEnvironment": ["bash", "-c"],
    "BubblewrapEnvironment": ["bash", "-c"],
    "ContreeEnvironment": ["bash", "-c"],
}


def find(recording: Recording) -> Found:
    """The session of a file. Problems are noted in the recording."""
    root = recording.root
    _check_version(root["trajectory_format"])
    recording.refuse_if_flawed()
    found = Found(FORMAT, _id(root, recording.stem), [], Environment())
    found.environment = _environment(root["info"]["config"], found)
    timeout_ms = _timeout_ms(root["info"]["config"]["environment"]["timeout"])
    agent = root["info"]["config"]["agent_type"].loose_text().rsplit(".", 1)[-1]
    stamps = Stamps()
    ended: Stamp | None = None
    interrupted: set[str] = set()
    for turn in turns_of(root["messages"]):
        issued = stamps.epoch(turn.message["extra"]["timestamp"])
        actions, results = actions_of(turn, stamps, attended=agent not in _UNATTENDED)
        actions[0].before = _gap(agent, turn.message, (ended, issued), interrupted) if found.actions else NO_GAP
        for action in actions:
            action.timeout_ms = timeout_ms
        found.actions += actions
        ended = max(results, key=lambda stamp: stamp.us, default=None)
        interrupted = interruptions(turn.behind)
    _note_agent(agent, root, found)
    return found


def _check_version(node: Node) -> None:
    given = node.value
    if given != FORMAT:
        older = isinstance(given, str) and given.startswith(_PREFIX)
        node.problem(f"{FORMAT}, which mini-swe-agent 2 writes" if older else FORMAT)


def _id(root: Node, stem: str) -> str:
    return root["instance_id"].text() or stem


def _provenance(agent: str, message: Node, interrupted: set[str]) -> Provenance:
    if interrupted - {"FormatError"} or message["role"].value == "user" or agent == _INTERACTIVE:
        return "recorded_with_prompts"
    if interrupted or agent not in _UNATTENDED:
        return "derived"  # a reply that could not be read, and a second one; or an agent whose ways are not known
    return "recorded"


def _gap(agent: str, message: Node, stamps: tuple[Stamp | None, Stamp | None], interrupted: set[str]) -> Gap:
    provenance = _provenance(agent, message, interrupted)
    reason = "prompt" if provenance == "recorded_with_prompts" else "think"
    return gap_between(*stamps, message, provenance, reason=reason)


def _timeout_ms(node: Node) -> int | None:
    seconds = node.number()
    return None if seconds is None or seconds <= 0 else max(1, round(seconds * 1_000))


def _environment(config: Node, found: Found) -> Environment:
    said = config["environment"]
    kind = config["environment_type"].loose_text().rsplit(".", 1)[-1]
    shell = [argument(item) for item in said["interpreter"].items()] or _SHELLS.get(kind)
    if shell is None:
        found.notes.append((config["environment_type"].path, "the shell is not known; bash -c is taken for it"))
    if said["forward_env"].value:
        why = "variables that were forwarded from the host, whose values are not recorded"
        found.notes.append((said["forward_env"].path, why))
    return surroundings(found, workdir=said["cwd"], shell=shell, env=said["env"])


def _note_agent(agent: str, root: Node, found: Found) -> None:
    path = root["info"]["config"]["agent_type"].path
    if agent == _INTERACTIVE:
        why = "an agent that asks a person: how long commands ran is not known, and waits may hold prompts"
        found.notes.append((path, why))
    elif agent not in _UNATTENDED:
        found.notes.append((path, "an agent that is not known: how long commands ran is not known, waits are derived"))
