"""manifest.json: what was to be run, on what and how it will be judged. Written before the drive.

Together with samples.ndjson it is all that a result is folded from, so that a killed run can still be
reported: whatever judging needs and the samples do not say has to stand here.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Self

from pydantic import Field

from perfq.measure.document import Document
from perfq.profile.budgets import Budget

if TYPE_CHECKING:
    from perfq._core import Plan

Kind = Literal["replay", "load", "live", "fleet", "trajectory"]


class Anchor(Document):
    """One instant on three clocks, so that monotonic stamps can be told as times of day."""

    wall_ns: int = Field(description="Nanoseconds since the Unix epoch")
    mono_ns: int = Field(description="CLOCK_MONOTONIC at the same instant")
    boot_ns: int = Field(description="CLOCK_BOOTTIME at the same instant; it also counts suspension")

    @classmethod
    def now(cls) -> Self:
        """Reads the three clocks."""
        import time

        return cls(
            wall_ns=time.time_ns(),
            mono_ns=time.monotonic_ns(),
            boot_ns=time.clock_gettime_ns(time.CLOCK_BOOTTIME),
        )


class PlanFacts(Document):
    """The plan as it was before any extension."""

    profile: dict[str, Any] = Field(description="The resolved workload profile, schema version 1")
    id: str
    profile_hash: str
    object_hash: str
    event_hash: str
    final_hash: str
    objects: int
    namespaces: int
    events: int
    duration_seconds: int

    @classmethod
    def of(cls, plan: Plan) -> Self:
        """The facts of a resolved plan."""
        return cls(
            profile=json.loads(plan.profile_json),
            id=plan.id,
            profile_hash=plan.profile_hash,
            object_hash=plan.object_hash,
            event_hash=plan.event_hash,
            final_hash=plan.final_hash,
            objects=plan.objects,
            namespaces=plan.namespaces,
            events=plan.events,
            duration_seconds=plan.duration_seconds,
        )


class ScopeFact(Document):
    """A LIST+WATCH pair that makes the client ready."""

    resource: str = Field(description="Plural, as in the API path")
    namespace: str = Field(default="", description='"" for all namespaces')


class TerminalFacts(Document):
    """The terminal that the client was given: it changes what clients draw."""

    cols: int
    rows: int
    environment: dict[str, str] = Field(default_factory=dict, description="What was set for drawing: TERM, LANG, …")


class ClientFacts(Document):
    """The client under test, and what a client of its kind can tell."""

    name: str
    kind: Literal["viewer", "watch", "command"]
    version: str | None = None
    commit: str | None = None
    argv: list[str]
    libraries: dict[str, str] = Field(default_factory=dict)
    has_probe: bool = Field(description="It reports from inside: received, rendered, digests")
    has_table: bool = Field(description="It keeps a table, so that a digest of it exists (probe only)")
    has_screen: bool = Field(description="It shows rows of objects that are recognised on the terminal")
    has_ready: bool = Field(default=True, description="It says, or its definition tells, when it takes keys")
    has_cursor: bool = Field(description="Its cursor is recognised, so that input can be measured")
    scopes: list[ScopeFact] = Field(default_factory=list)
    cwd: str | None = Field(default=None, description="Where it was started")
    terminal: TerminalFacts | None = None


class PerfqFacts(Document):
    """Which perfq this was."""

    version: str
    commit: str | None = None
    build: str | None = None


class HostFacts(Document):
    """Where it ran."""

    os: str | None = None
    kernel: str | None = None
    cpu: str | None = None
    cpu_count: int | None = None
    cpus_allowed: float | None = Field(
        default=None, description="CPUs that affinity and cgroup quota leave to perfq, client included"
    )
    memory_bytes: int | None = None
    python: str | None = None

    @classmethod
    def here(cls) -> Self:
        """Reads this host; what cannot be read is null."""
        from perfq.measure.host import read_host

        return cls(**read_host())


class TargetFacts(Document):
    """What the client was pointed at."""

    kind: Literal["embedded", "cluster"]
    server: str | None = Field(default=None, description="URL of the API server")
    tls: bool | None = None
    pod_bytes: int | None = Field(default=None, description="Mean JSON bytes of a Pod on the wire")
    cluster_id: str | None = None
    version: str | None = Field(default=None, description="Kubernetes version that the server states")


class ReplayOptions(Document):
    """What was asked for beside the plan."""

    input_pairs: int = Field(default=0, description="Down/up pairs planned; 0 where input is not measured")
    probes: int = Field(default=0, description="Probe events planned; 0 where none can be seen")
    scenarios: list[str] = Field(default_factory=list, description="Names of the scenarios that are to be walked")
    key_timeout_ms: int = 5000
    cols: int | None = None
    rows: int | None = None
    cpu_profile: bool = False
    allocations: bool = False
    linked_run: str | None = Field(default=None, description="The other run of --allocations, from this directory")
    max_time_s: float | None = None


class Manifest(Document):
    """perfq.manifest/v1."""

    schema_: Literal["perfq.manifest/v1"] = Field(default="perfq.manifest/v1", alias="schema")
    kind: Kind = "replay"
    run_id: str = Field(pattern=r"^[a-z0-9]([a-z0-9-]{0,38}[a-z0-9])?$")
    command: str = Field(description="The command line, as it can be run again")
    started_at: str = Field(description="RFC 3339, UTC")
    anchor: Anchor
    plan: PlanFacts
    client: ClientFacts
    target: TargetFacts
    host: HostFacts
    perfq: PerfqFacts
    options: ReplayOptions = Field(default_factory=ReplayOptions)
    budgets: list[Budget] = Field(default_factory=list, description="The budgets, as parsed")
    client_home: str | None = Field(default=None, description="The client's temporary home, which goes with the run")

    @classmethod
    def read(cls, run_dir: Path) -> Self:
        """manifest.json of a run directory; OSError, ValidationError."""
        return cls.from_json((run_dir / "manifest.json").read_bytes())
