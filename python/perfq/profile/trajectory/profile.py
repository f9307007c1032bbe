"""`perfq.trajectory-profile/v1`: which sessions are replayed, when they arrive, and in what."""

from __future__ import annotations

from typing import Annotated, Final, Literal

from pydantic import Field

from perfq.profile.document import Strict
from perfq.profile.trajectory.part import (
    MAX_COUNT,
    Argument,
    Bytes,
    Milliseconds,
    Name,
    PositiveBytes,
    PositiveMilliseconds,
)

SCHEMA: Final = "perfq.trajectory-profile/v1"

WaitMode = Literal["idle", "freeze", "offload"]
SamplingMode = Literal["isolated", "inline", "off"]
SampleSource = Literal["cgroup", "psi", "proc", "smaps_rollup"]
Usage = Literal["current_minus_inactive_file", "current"]

_Count = Annotated[int, Field(ge=1, le=MAX_COUNT)]
_Argv = Annotated[list[Argument], Field(min_length=1)]


class TrajectorySource(Strict):
    """Files of sessions."""

    path: Argument = Field(min_length=1, description="Path or glob (*, ?, […], **), from the profile's folder.")
    repeat: _Count = Field(default=1, description="How often all sessions of these files are replayed.")


class Waves(Strict):
    """Groups that arrive at once."""

    mode: Literal["waves"] = Field(description="waves.")
    waves: _Count = Field(description="How many.")
    per_wave: _Count = Field(description="Sessions in each.")
    interval_ms: Milliseconds = Field(description="From one to the next.")


class Explicit(Strict):
    """Each session at its own time."""

    mode: Literal["explicit"] = Field(description="explicit.")
    offsets_ms: list[Milliseconds] = Field(min_length=1, max_length=MAX_COUNT, description="One for each session.")


class Poisson(Strict):
    """Arrivals that know nothing of each other, drawn from the seed."""

    mode: Literal["poisson"] = Field(description="poisson.")
    rate_per_hour: int = Field(ge=1, le=3_600_000, description="Sessions an hour on average.")


Arrivals = Annotated[Waves | Explicit | Poisson, Field(discriminator="mode")]


class Admission(Strict):
    """When a session that has arrived may start: first in, first out."""

    budget_bytes: PositiveBytes | None = Field(default=None, description="Memory for all sessions; absent: no limit.")
    headroom_bytes: Bytes = Field(default=0, description="Of the budget, what stays free when a session is admitted.")
    usage: Usage = Field(default="current_minus_inactive_file", description="What counts as used.")
    reserve_bytes: Bytes = Field(default=0, description="What a session counts for while it starts.")
    max_concurrent: _Count | None = Field(default=None, description="Sessions at once; absent: no limit.")


class Launch(Strict):
    """How fast sessions may start."""

    interval_ms: Milliseconds = Field(default=0, description="At most one start in this time.")


class Command(Strict):
    """What every command is held to."""

    timeout_ms: PositiveMilliseconds = Field(
        default=30_000, description="Time limit, where the command has none of its own."
    )
    term_grace_ms: Milliseconds = Field(default=1_000, description="From SIGTERM to SIGKILL.")
    clean_timeout_ms: PositiveMilliseconds = Field(default=5_000, description="For what it left to be found and gone.")
    max_output_bytes: Bytes = Field(default=65_536, description="Output that is kept; all of it is counted and hashed.")


class Wait(Strict):
    """What a wait does besides waiting."""

    mode: WaitMode = Field(
        default="idle", description="Nothing, the freezer, or the backend's memory-offload commands."
    )


class SamplingOptions(Strict):
    """The sampler."""

    mode: SamplingMode = Field(
        default="isolated", description="On threads of its own, on the scheduler's (inline), or off."
    )
    workers: int = Field(default=4, ge=1, le=64, description="Threads that read.")
    delay_after_ms: PositiveMilliseconds = Field(default=500, description="From the end of a read to the next one.")
    drain_timeout_ms: PositiveMilliseconds = Field(
        default=10_000, description="For the read in flight, at a session's stop."
    )
    sources: list[SampleSource] = Field(default=["cgroup", "psi", "proc"], min_length=1, description="What is read.")
    inject_read_delay_ms: Milliseconds = Field(default=0, description="Makes each read slow, to see what that costs.")


class LocalBackend(Strict):
    """Processes of this machine, each session in a folder of its own."""

    kind: Literal["local"] = Field(description="local.")


class CommandBackend(Strict):
    """Sandboxes of a runtime of yours. In each item {session}, {workdir} and {script} are replaced."""

    kind: Literal["command"] = Field(description="command.")
    launch_argv: _Argv = Field(
        description='Starts a sandbox, returns once it is ready, and prints one line, {"pid": …} or {"cgroup": …}.'
    )
    exec_argv: _Argv = Field(description="Runs {script} in it and passes on the exit code.")
    stop_argv: _Argv = Field(description="Ends it.")
    pause_argv: _Argv | None = Field(default=None, description="Pauses it, for freeze.")
    resume_argv: _Argv | None = Field(default=None, description="Resumes it.")
    offload_argv: _Argv | None = Field(
        default=None, description="Moves its memory out, for offload; not called while a process in it runs."
    )
    restore_argv: _Argv | None = Field(default=None, description="Moves it back in.")


class PodsBackend(Strict):
    """Pods of a cluster; not there yet."""

    kind: Literal["pods"] = Field(description="pods.")


Backend = Annotated[LocalBackend | CommandBackend | PodsBackend, Field(discriminator="kind")]


class TrajectoryProfile(Strict):
    """How recorded sessions are replayed."""

    schema_: Literal["perfq.trajectory-profile/v1"] = Field(alias="schema", description="The name of this format.")
    name: Name = Field(description="A name for people and reports.")
    seed: int = Field(default=0, ge=0, le=2**63 - 1, description="Seed of every draw.")
    trajectories: list[TrajectorySource] = Field(min_length=1, description="What is replayed, in this order.")
    arrivals: Arrivals = Field(description="When each session arrives; never later because another one is slow.")
    admission: Admission = Field(default=Admission(), description="When it may start.")
    launch: Launch = Field(default=Launch(), description="The pace of starts.")
    command: Command = Field(default=Command(), description="Limits of every command.")
    wait: Wait = Field(default=Wait(), description="What is done with a sandbox in a wait.")
    sampling: SamplingOptions = Field(default=SamplingOptions(), description="How resources are sampled.")
    backend: Backend = Field(default=LocalBackend(kind="local"), description="Where the commands run.")
    audits: Literal["all"] = Field(default="all", description="Exit audits; they run in every mode.")
