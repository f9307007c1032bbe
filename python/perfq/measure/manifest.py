"""manifest.json: what was to be run, on what and how it will be judged. Written before the drive.

Together with samples.ndjson it is all that a result is folded from, so that a killed run can still be
reported: whatever judging needs and the samples do not say has to stand here. This is the part that all
kinds of run share; each kind adds its own.
"""

from __future__ import annotations

from typing import Literal, Self

from pydantic import Field

from perfq.measure.document import Document
from perfq.profile.budgets import Budget

Kind = Literal["replay", "load", "live", "fleet", "trajectory"]
FILE = "manifest.json"


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


class PerfqFacts(Document):
    """Which perfq this was."""

    version: str
    commit: str | None = None
    build: str | None = None

    @classmethod
    def here(cls) -> Self:
        """The perfq that runs."""
        from perfq.measure.build_info import build_info

        build = build_info()
        made = f"{build['build']}, {build['rust']}, {build['target']}"
        return cls(version=build["version"], commit=build["commit"], build=made)


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
    """What the load was put on."""

    kind: Literal["embedded", "cluster", "local", "command"] = Field(
        description="The embedded server, another one, or what sessions ran in: this machine, a runtime of one's own"
    )
    server: str | None = Field(default=None, description="URL of the API server")
    tls: bool | None = None
    pod_bytes: int | None = Field(default=None, description="Mean JSON bytes of a Pod on the wire")
    cluster_id: str | None = None
    version: str | None = Field(default=None, description="Kubernetes version that the server states")


class Manifest(Document):
    """perfq.manifest/v1, the common part."""

    schema_: Literal["perfq.manifest/v1"] = Field(default="perfq.manifest/v1", alias="schema")
    kind: Kind
    run_id: str = Field(pattern=r"^[a-z0-9]([a-z0-9-]{0,38}[a-z0-9])?$")
    command: str = Field(description="The command line, as it can be run again")
    started_at: str = Field(description="RFC 3339, UTC")
    anchor: Anchor
    target: TargetFacts
    host: HostFacts
    perfq: PerfqFacts
    budgets: list[Budget] = Field(default_factory=list, description="The budgets, as parsed")

    @property
    def subject(self) -> str:
        """What was run, for people: a profile's id, an input's name."""
        raise NotImplementedError

    @property
    def client_name(self) -> str | None:
        """The client under test; None where the run has none."""
        return None
