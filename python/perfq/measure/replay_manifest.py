"""The manifest of a replay: the plan, the client under test, what was asked for beside them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self

from msgspec import Meta, field

from perfq.measure.client_facts import ClientFacts
from perfq.measure.document import Document
from perfq.measure.manifest import Manifest

if TYPE_CHECKING:
    from perfq._core import Plan


class PlanFacts(Document):
    """The plan as it was before any extension."""

    profile: Annotated[dict[str, Any], Meta(description="The resolved workload profile, schema version 1")]
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


class ReplayOptions(Document):
    """What was asked for beside the plan."""

    input_pairs: Annotated[int, Meta(description="Down/up pairs planned; 0 where input is not measured")] = 0
    probes: Annotated[int, Meta(description="Probe events planned; 0 where none can be seen")] = 0
    scenarios: Annotated[list[str], Meta(description="Names of the scenarios that are to be walked")] = field(
        default_factory=list
    )
    key_timeout_ms: int = 5000
    cols: int | None = None
    rows: int | None = None
    cpu_profile: bool = False
    allocations: bool = False
    linked_run: Annotated[str | None, Meta(description="The other run of --allocations, from this directory")] = None
    max_time_s: float | None = None


class ReplayManifest(Manifest):
    """What only a replay has."""

    kind: Literal["replay", "live"] = "replay"
    plan: PlanFacts
    client: ClientFacts
    options: ReplayOptions = field(default_factory=ReplayOptions)
    client_home: Annotated[str | None, Meta(description="The client's temporary home, which goes with the run")] = None

    @property
    def subject(self) -> str:
        """The workload profile."""
        return self.plan.id

    @property
    def client_name(self) -> str | None:
        """As its definition calls it."""
        return self.client.name
