"""A client definition, as the drivers use it."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import perfq
from perfq.drive.scenarios import Step
from perfq.profile.keys import encode_keys

if TYPE_CHECKING:
    from perfq._core import Terminal, TerminalView
    from perfq.profile.client import ClientDefinition, Scenario


def view_of(definition: ClientDefinition) -> TerminalView:
    """How the terminal engine finds rows, cells and the cursor. Compiled: make one for each terminal."""
    from perfq._core import TerminalView

    return TerminalView(definition.screen.model_dump())


def move_keys(definition: ClientDefinition, terminal: Terminal) -> dict[str, bytes]:
    """The bytes of the keys down and up, as the client asked its terminal to send them; none without a cursor."""
    if definition.moves is None:
        return {}
    return {"down": terminal.key(definition.moves.down), "up": terminal.key(definition.moves.up)}


def step_of(scenario: Scenario, terminal: Terminal) -> Step:
    """A scenario as keys, in the encoding that the client asked its terminal for now, and patterns."""
    return Step(
        name=scenario.name,
        keys=encode_keys(scenario.keys, terminal.key),
        expect=scenario.expect,
        back=encode_keys(scenario.back, terminal.key),
        back_expect=scenario.back_expect,
    )


def argv_of(definition: ClientDefinition) -> tuple[str, ...]:
    """The command with {python} replaced by the interpreter that runs perfq."""
    return tuple(word.replace("{python}", sys.executable) for word in definition.command)


def module_environment(inherited: Mapping[str, str] = os.environ) -> dict[str, str]:
    """What lets another process of this interpreter import perfq, wherever it is installed (a single file
    unpacks itself to a folder that only its own process knows)."""
    package = str(Path(perfq.__file__).resolve().parent.parent)
    return {"PYTHONPATH": os.pathsep.join(part for part in (package, inherited.get("PYTHONPATH", "")) if part)}


def environment_of(definition: ClientDefinition) -> dict[str, str]:
    """The definition's variables, and for a client of perfq's own where its modules are."""
    own = any("{python}" in word for word in definition.command)
    return {**(module_environment() if own else {}), **definition.environment}
