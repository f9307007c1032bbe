"""A client definition, as the drivers use it."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from perfq.drive.scenarios import Step
from perfq.profile.keys import parse_keys

if TYPE_CHECKING:
    from perfq.profile.client import ClientDefinition, Scenario


def view_of(definition: ClientDefinition) -> dict[str, Any]:
    """How the terminal engine finds rows, cells and the cursor."""
    return definition.screen.model_dump()


def move_keys(definition: ClientDefinition) -> dict[str, bytes]:
    """The bytes of the keys down and up; none for a client without a cursor."""
    if definition.moves is None:
        return {}
    return {"down": parse_keys(definition.moves.down), "up": parse_keys(definition.moves.up)}


def step_of(scenario: Scenario) -> Step:
    """A scenario as keys and patterns."""
    return Step(
        name=scenario.name,
        keys=parse_keys(scenario.keys),
        expect=scenario.expect,
        back=parse_keys(scenario.back),
        back_expect=scenario.back_expect,
    )


def argv_of(definition: ClientDefinition) -> tuple[str, ...]:
    """The command with {python} replaced by the interpreter that runs perfq."""
    return tuple(word.replace("{python}", sys.executable) for word in definition.command)
