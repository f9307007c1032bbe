"""manifest.json: what was to be run, on what and how it will be judged. Written before the drive.

Together with samples.ndjson it is all that a result is folded from, so that a killed run can still be
reported: whatever judging needs and the samples do not say has to stand here. This is the part that all
kinds of run share; each kind adds its own.
"""

from __future__ import annotations

from typing import Annotated, Literal, Self

from msgspec import Meta, field

from perfq.measure.document import Document
from perfq.profile.budgets import Budget

Kind = Literal["replay", "load", "live", "fleet", "trajectory"]
FILE = "manifest.json"


class Anchor(Document):
    """One instant on three clocks, so that monotonic stamps can be told as times of day."""

    wall_ns: Annotated[int, Meta(description="Nanoseconds since the Unix epoch")]
    mono_ns: Annotated[int, Meta(description="CLOCK_MONOTONIC at the same instant")]
    boot_ns: Annotated[int, Meta(description="CLOCK_BOOTTIME at the same instant; it also counts suspension")]

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
    cpus_allowed: Annotated[
        float | None, Meta(description="CPUs that affinity and cgroup quota leave to perfq, client included")
    ] = None
    memory_bytes: int | None = None
    python: str | None = None

    @classmethod
    def here(cls) -> Self:
        """Reads this host; what cannot be read is null."""
        from perfq.measure.host import read_host

        return cls(**read_host())


class TargetFacts(Document):
    """What the load was put on."""

    kind: Annotated[
        Literal["embedded", "cluster", "local", "command"],
        Meta(
            description="The embedded server, another one, or what sessions ran in: this machine, a runtime of "
            "one's own"
        ),
    ]
    server: Annotated[str | None, Meta(description="URL of the API server")] = None
    tls: bool | None = None
    pod_bytes: Annotated[int | None, Meta(description="Mean JSON bytes of a Pod on the wire")] = None
    cluster_id: str | None = None
    version: Annotated[str | None, Meta(description="Kubernetes version that the server states")] = None


class Manifest(Document):
    """perfq.manifest/v1, the common part."""

    schema_: Literal["perfq.manifest/v1"] = field(name="schema", default="perfq.manifest/v1")
    kind: Kind
    run_id: Annotated[str, Meta(pattern=r"^[a-z0-9]([a-z0-9-]{0,38}[a-z0-9])?$")]
    command: Annotated[str, Meta(description="The command line, as it can be run again")]
    started_at: Annotated[str, Meta(description="RFC 3339, UTC")]
    anchor: Anchor
    target: TargetFacts
    host: HostFacts
    perfq: PerfqFacts
    budgets: Annotated[list[Budget], Meta(description="The budgets, as parsed")] = field(default_factory=list)

    @property
    def subject(self) -> str:
        """What was run, for people: a profile's id, an input's name."""
        raise NotImplementedError

    @property
    def client_name(self) -> str | None:
        """The client under test; None where the run has none."""
        return None
