"""The manifest of replayed sessions: the work, what it was held to, and what it ran in."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta, field

from perfq.measure.load.manifest import InputFacts
from perfq.measure.manifest import Manifest
from perfq.measure.trajectory.facts import SessionFacts


class TrajectoryManifest(Manifest):
    """What only replayed sessions have."""

    kind: Literal["trajectory"] = "trajectory"
    input: InputFacts
    sessions: SessionFacts
    workspaces: Annotated[str | None, Meta(description="The folder that sessions of this machine worked in")] = None
    notes: Annotated[list[str], Meta(description="What a reader should know of the input")] = field(
        default_factory=list
    )

    @property
    def subject(self) -> str:
        """The profile's own name."""
        return self.input.description or self.input.name
