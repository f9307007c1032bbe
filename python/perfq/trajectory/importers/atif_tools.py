"""ATIF: which of an agent's tools give a command to a shell, and what their results say.

ATIF fixes how calls and results are written, not what tools there are. Those of the agents that Harbor knows are listed
here; a call of any other tool is no command.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any, Final, Literal

from perfq.trajectory.importers.openhands_shell import Said, read_result
from perfq.trajectory.importers.recording import Node
from perfq.trajectory.importers.swe_agent import CANCELLED

Reader = Literal["plain", "openhands", "mini-swe-agent", "swe-agent"]


@dataclass(frozen=True, slots=True)
class ShellTool:
    """A tool that runs a command: where its arguments have it, and how its results are to be read."""

    argument: str
    reader: Reader = "plain"
    #: The argument that is a time limit, and milliseconds in its unit.
    limit: str | None = None
    unit_ms: int = 1
    directory: str | None = None


_OPENHANDS: Final = ShellTool("command", "openhands", "timeout", 1_000)
_CODEX: Final = ShellTool("command", "plain", "timeout_ms", 1, "workdir")
#: By function name, in lower case.
_TOOLS: Final = {
    "bash": ShellTool("command", "plain", "timeout", 1),
    "bash_command": ShellTool("command"),
    "execute_bash": _OPENHANDS,
    "terminal": _OPENHANDS,
    "run_shell_command": ShellTool("command", directory="directory"),
    "shell": _CODEX,
    "shell_command": _CODEX,
    "local_shell": _CODEX,
    "exec_command": ShellTool("cmd", directory="workdir"),
    "swe_agent_action": ShellTool("raw_action", "swe-agent"),
    "developer__shell": ShellTool("command"),
    "developer.shell": ShellTool("command"),
}
#: Agents whose commands all go to one shell, or that keep its directory; those of others begin anew each time.
_REMEMBER: Final = ("terminus", "openhands", "swe-agent", "claude-code", "trae-agent")
_FORGET: Final = ("mini-swe-agent", "codex", "gemini-cli", "qwen", "opencode", "goose")

_CODE: Final = re.compile(r"\A(?:Exit code:? |.{0,300}Process exited with code )(-?[0-9]{1,9})", re.DOTALL)
_GOES_ON: Final = re.compile(
    r"\A(?:Command running in (?:the )?background|.{0,300}Process running with session ID)", re.S
)
_TIMED_OUT: Final = re.compile(r"\A(?:Error: )?[Cc]ommand timed out after")
_REJECTED: Final = re.compile(r"\A(?:The user doesn't want to proceed|exec command rejected by user)")
_REFUSED: Final = re.compile(r"\A<tool_use_error>")
_RETURNCODE: Final = re.compile(r"<returncode>(-?[0-9]{1,9})</returncode>")
_EXCEPTION: Final = re.compile(r"<exception>(.*?)</exception>", re.DOTALL)


def shell_tool(agent: str, function: str) -> ShellTool | None:
    """The tool of that name; None where it is not one that runs commands."""
    tool = _TOOLS.get(function.lower())
    if tool is not None and agent.startswith("mini-swe-agent"):
        return ShellTool("command", "mini-swe-agent")
    return tool


def remembers(agent: str) -> bool | None:
    """Whether the agent's commands share a shell; None where that is not known."""
    if agent.startswith(_FORGET):
        return False
    return True if agent.startswith(_REMEMBER) else None


def script_of(tool: ShellTool, arguments: Node) -> tuple[Node, str | None]:
    """The command, and why it is none: an argument vector other than that of `bash -lc` is given to no shell."""
    node = arguments[tool.argument]
    if not isinstance(node.value, list):
        return node, None
    words = node.value
    if len(words) == 3 and words[0] in ("bash", "sh", "/bin/bash", "/bin/sh") and words[1] in ("-c", "-lc"):
        return node[2], None
    return node, "an argument vector, which no shell was given"


def read(tool: ShellTool, result: Node) -> Said:
    """What became of a call, from its result."""
    if not result:
        return Said("unknown")
    text = text_of(result)
    if tool.reader == "openhands":
        said = read_result(None, text)
        return Said("ran") if said.fate == "unknown" else said
    if tool.reader == "mini-swe-agent":
        return _mini_swe_agent(text)
    if tool.reader == "swe-agent":
        cancelled = CANCELLED.search(text)
        return Said("ran") if cancelled is None else Said("timed_out", limit=float(cancelled[1] or 0) or None)
    return _plain(text)


def text_of(result: Node) -> str:
    """The text of a result; since version 1.6 it may come in parts."""
    content = result["content"]
    if isinstance(content.value, list):
        return "".join(part["text"].loose_text() for part in content.items())
    return content.loose_text()


def _plain(text: str) -> Said:
    if _REJECTED.search(text):
        return Said("rejected")
    if _REFUSED.search(text):
        return Said("refused")
    if _TIMED_OUT.search(text):
        return Said("timed_out")
    if _GOES_ON.search(text):
        return Said("still_running")
    code = _CODE.search(text)
    return Said("ran", None if code is None else int(code[1]))


def _mini_swe_agent(text: str) -> Said:
    code, cause = _code_and_cause(text)
    if not cause:
        return Said("ran", code)
    if "action was not executed" in cause:
        return Said("never_executed")
    return Said("timed_out" if "timed out after" in cause else "unknown")


def _code_and_cause(text: str) -> tuple[int | None, str]:
    """mini-swe-agent shows its results as JSON or in tags, as its configuration says."""
    try:
        value: Any = json.loads(text)
    except (ValueError, RecursionError):
        value = None
    if isinstance(value, dict) and type(value.get("returncode")) is int:
        return value["returncode"], str(value.get("exception_info") or "")
    code, cause = _RETURNCODE.search(text), _EXCEPTION.search(text)
    return None if code is None else int(code[1]), "" if cause is None else cause[1]
