"""`perfq.trajectory/v1`: one recorded session, commands and the waits between them."""

from __future__ import annotations

import hashlib
import json
from typing import Annotated, Final, Literal

from pydantic import Field, field_validator

from perfq.profile.document import Strict
from perfq.profile.trajectory.fates import Fate, Provenance
from perfq.profile.trajectory.part import (
    MAX_COUNT,
    Argument,
    Bytes,
    Milliseconds,
    Name,
    PositiveBytes,
    PositiveMilliseconds,
    Sha256,
)

SCHEMA: Final = "perfq.trajectory/v1"
Outcome = Literal["ran", "timed_out"]


class Recorded(Strict):
    """What the recording says of a command. A field that it does not say is null."""

    offset_ms: Milliseconds | None = Field(
        default=None, description="When it was issued, from the session's first stamp."
    )
    duration_ms: Milliseconds | None = Field(
        default=None, description="How long it ran; null in a batch under one stamp."
    )
    exit_code: int | None = Field(default=None, ge=-(2**31), le=2**31 - 1, description="Its exit code.")
    fate: Outcome = Field(default="ran", description="Whether it ended by itself.")
    output_bytes: Bytes | None = Field(
        default=None, description="Bytes of output (as UTF-8), as far as they were kept."
    )
    output_sha256: Sha256 | None = Field(default=None, description="SHA-256 of the same.")


class ExecStep(Strict):
    """A command."""

    kind: Literal["exec"] = Field(description="exec.")
    id: Name = Field(description="Its own within the session.")
    script: Argument = Field(min_length=1, description="What the shell is given, unaltered.")
    timeout_ms: PositiveMilliseconds | None = Field(
        default=None, description="Its time limit; the profile's where absent."
    )
    reset: bool = Field(default=False, description="A new shell first; only in a persistent session.")
    recorded: Recorded | None = Field(default=None, description="What the recording says of it.")


class WaitStep(Strict):
    """A wait before the next command, in full from the end of the one before."""

    kind: Literal["wait"] = Field(description="wait.")
    wait_ms: Milliseconds = Field(description="How long.")
    reason: Name | None = Field(default=None, description="What was waited for: think, prompt, poll, …")
    provenance: Provenance | None = Field(default=None, description="Where it comes from; the session's where absent.")
    pause: Literal["idle", "freeze", "offload"] | None = Field(
        default=None, description="What is done with the sandbox in this wait; the profile's wait.mode where absent."
    )


Step = Annotated[ExecStep | WaitStep, Field(discriminator="kind")]


class Loss(Strict):
    """One action of the recording that is not replayed, or not as it was."""

    at: str = Field(description="Where it stands in the recording.")
    fate: Fate | None = Field(default=None, description="What became of it; null where it is not an action.")
    why: str = Field(min_length=1, description="Why it is lost.")


class Origin(Strict):
    """Where a session was imported from."""

    format: Name = Field(description="Format and version: mini-swe-agent-1.1.")
    sha256: Sha256 | None = Field(default=None, description="SHA-256 of the recording's file.")
    wait_provenance: Provenance = Field(default="none", description="Where the waits come from: the worst of them.")
    missing_wait: Literal["reject", "zero", "seeded"] = Field(default="reject", description="What stood in for waits.")
    losses: list[Loss] = Field(default_factory=list, description="All that was lost.")
    fates: dict[Fate, Annotated[int, Field(ge=0)]] = Field(
        default_factory=dict, description="Actions of the recording by fate."
    )


class Resources(Strict):
    """Limits of the session's sandbox."""

    cpu_millis: int | None = Field(default=None, ge=1, le=10_000_000, description="Thousandths of a CPU.")
    memory_bytes: PositiveBytes | None = Field(default=None, description="Memory limit.")


class Environment(Strict):
    """Directory, shell and variables of the commands."""

    workdir: Argument | None = Field(default=None, description="Absolute; the backend may put it elsewhere.")
    shell: list[Argument] = Field(default=["bash", "-c"], min_length=1, description="A script is its last argument.")
    session: Literal["stateless", "persistent"] = Field(
        default="stateless", description="persistent: one shell that keeps its directory and exports for all commands."
    )
    env: dict[str, Argument] = Field(default_factory=dict, description="Variables on top of the backend's.")
    resources: Resources | None = Field(default=None, description="What the session was given.")

    @field_validator("workdir")
    @classmethod
    def _absolute(cls, value: str | None) -> str | None:
        if value is not None and not value.startswith("/"):
            raise ValueError("an absolute path")
        return value

    @field_validator("env")
    @classmethod
    def _names(cls, value: dict[str, str]) -> dict[str, str]:
        for name in value:
            if not name or "=" in name or "\0" in name:
                raise ValueError(f"names of variables; {name!r} is none")
        return value


class Trajectory(Strict):
    """One session."""

    schema_: Literal["perfq.trajectory/v1"] = Field(alias="schema", description="The name of this format.")
    id: Name = Field(description="A name for people and reports: task-11099/run-3.")
    source: Origin | None = Field(
        default=None, description="Where it was imported from; absent where it was written by hand."
    )
    environment: Environment = Field(default=Environment(), description="What its commands ran in.")
    steps: list[Step] = Field(min_length=1, max_length=MAX_COUNT, description="In their order.")

    @property
    def commands(self) -> list[ExecStep]:
        """Its commands alone."""
        return [step for step in self.steps if isinstance(step, ExecStep)]

    @property
    def planned_wait_ms(self) -> int:
        """All of its waits."""
        return sum(step.wait_ms for step in self.steps if isinstance(step, WaitStep))

    def to_json(self) -> str:
        """One document, indented, with a newline at the end; fields that were left out stay out."""
        value = self.model_dump(mode="json", by_alias=True, exclude_unset=True)
        return json.dumps(value, indent=1, ensure_ascii=False) + "\n"

    def to_line(self) -> str:
        """The same on one line, as JSON lines have it."""
        value = self.model_dump(mode="json", by_alias=True, exclude_unset=True)
        return json.dumps(value, separators=(",", ":"), ensure_ascii=False) + "\n"

    @property
    def sha256(self) -> str:
        """Of its canonical line: every field, keys sorted. The same session has the same hash however it is written."""
        line = json.dumps(self.model_dump(mode="json", by_alias=True), sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(line.encode()).hexdigest()
