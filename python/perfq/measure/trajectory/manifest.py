"""The manifest of replayed sessions: the work, what it was held to, and what it ran in."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from perfq.measure.load.manifest import InputFacts
from perfq.measure.manifest import Manifest
from perfq.measure.trajectory.facts import SessionFacts


class TrajectoryManifest(Manifest):
    """What only replayed sessions have."""

    kind: Literal["trajectory"] = "trajectory"
    input: InputFacts
    sessions: SessionFacts
    workspaces: str | None = Field(default=None, description="The folder that sessions of this machine worked in")
    notes: list[str] = Field(default_factory=list, description="What a reader should know of the input")

    @property
    def subject(self) -> str:
        """The profile's own name."""
        return self.input.description or self.input.name
